import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isObject, type JsonObject } from "../../src/common/json.ts";
import type { Shape } from "../../src/raw/document.ts";
import { Drift } from "../../src/raw/drift.ts";
import { meaningOfName } from "../../src/raw/personal/names.ts";
import { personalHash } from "../../src/raw/personal/policy.ts";
import { documentPreparer, type PrepareSettings } from "../../src/raw/prepare.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import { either } from "../long.ts";
import { DROP, HASH, HASH_KEY } from "../policies.ts";
import fc from "../properties.ts";
import { onlyRow, rowsOf, type Transformed, transform } from "../transform/harness.ts";
import { richWorld, type World } from "../transform/rich.ts";

const CANARY = "jane.canary-7f3a@example.com";

function run(world: World, options: PrepareSettings): Transformed {
  return transform(
    [
      [
        { shape: "dynamic", document: world.dynamic },
        { shape: "full", document: world.full },
      ],
    ],
    { destinations: [world.destination], definitions: [world.custom_field_definition] },
    options,
  );
}

/** A document after the policy, and what the drift says of it. */
function prepared(document: JsonObject, options: PrepareSettings, shape: Shape = "dynamic") {
  const drift = new Drift();
  const copy: JsonObject = structuredClone({ id: "i", ...document });
  documentPreparer(options)(shape, copy, { order: 1, contentId: "i" }, drift);
  const { id: _, ...rest } = copy;
  return { document: rest, drift: drift.sorted().map(({ path, kind }) => `${kind} ${path}`) };
}

describe("declared personal columns", () => {
  const personal = DATA_TABLES.flatMap((table) =>
    table.columns.filter((column) => column.personal).map(({ name }) => ({ table: table.name, name })),
  );

  test("are those that the specification calls personal, a user's slug and name_sort, and editors' names", () => {
    assert.deepEqual(personal.map(({ table, name }) => `${table}.${name}`).sort(), [
      "content_current_editors.avatar_url",
      "content_current_editors.name",
      "users.avatar_feed_url",
      "users.avatar_profile_large_url",
      "users.avatar_profile_url",
      "users.avatar_thumbnail_url",
      "users.bio",
      "users.email",
      "users.name",
      "users.name_sort",
      "users.phone",
      "users.short_bio",
      "users.slug",
    ]);
  });

  test("are NULL where the policy drops, and nothing else is", () => {
    const [dropped, kept] = [run(richWorld(), DROP), run(richWorld(), { ...DROP, policy: "keep" })];
    for (const { name: table } of DATA_TABLES) {
      const isPersonal = (column: string) =>
        personal.some((each) => each.table === table && each.name === column);
      rowsOf(kept, table).forEach((row, at) => {
        for (const [column, value] of Object.entries(row)) {
          const found = rowsOf(dropped, table)[at]?.[column];
          assert.equal(found, isPersonal(column) ? null : value, `${table}.${column}`);
        }
      });
    }
  });

  test("are hashed, each in its own way, where the policy says so; what is empty stays empty", () => {
    const world = richWorld();
    world.dynamic.author_details = { id: "u", email: "A@b.c", name: "A@b.c", bio: "", phone: null };
    delete world.dynamic.creator_details;
    for (const name of ["last_updated_by", "last_updated_by_details", "owner_details"])
      delete world.full[name];
    const row = onlyRow(run(world, HASH), "users");
    assert.equal(row.email, personalHash(HASH_KEY, "email", "a@b.c"));
    assert.equal(row.name, personalHash(HASH_KEY, "name", "A@b.c"));
    assert.notEqual(row.name, row.email);
    assert.deepEqual([row.bio, row.phone, row.user_id], ["", null, "u"]);
  });

  test("are counted by their path, without an example", () => {
    const { drift } = run(richWorld(), DROP);
    const dropped = drift.filter(({ kind }) => kind === "personal_dropped");
    assert.ok(dropped.some(({ path, count }) => path === "author_details.email" && count === 1));
    assert.ok(dropped.some(({ path }) => path === "currently_editing[].avatar_url"));
    assert.ok(dropped.every(({ example }) => example === null));
  });
});

describe("the keyed hash", () => {
  test("is HMAC-SHA-256 of the field, a NUL and the value, as these worked examples have it", () => {
    // printf 'email\0jane@example.com' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
    const email = "ae13520d188358c77036b9577b538cd0f869ff6e2bf51811dcb611524d2d7d04";
    assert.equal(personalHash(HASH_KEY, "email", "jane@example.com"), email);
    assert.equal(personalHash(HASH_KEY, "email", "  Jane@Example.com\n"), email);
    // printf 'name\0Zoë' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
    const name = "a6989afd9ae76499a08c3fb75b5f5f0af3bcd84b7c7effdb16155c81f601d0da";
    assert.equal(personalHash(HASH_KEY, "name", "Zo\u00eb"), name);
    assert.equal(personalHash(HASH_KEY, "name", "Zoe\u0308"), name);
    assert.notEqual(personalHash(HASH_KEY, "name", "zoë"), name);
    assert.notEqual(personalHash(HASH_KEY, "bio", "Zoë"), name);
  });

  test("needs a key of 32 bytes or more", () => {
    assert.throws(() => documentPreparer({ ...HASH, hashKey: HASH_KEY.slice(1) }), TypeError);
    assert.throws(() => documentPreparer({ ...HASH, hashKey: undefined }), TypeError);
  });
});

describe("what describes a person", () => {
  test("is personal where it is a text, alone or in a list, and in every field that is not known", () => {
    const { document, drift } = prepared(
      {
        author_details: "Jane Canary",
        creator_details: { id: "u", tz: "UTC", shoe_size: 42 },
        currently_editing: ["Jane Canary", { id: "v" }],
      },
      DROP,
    );
    assert.deepEqual(document, {
      creator_details: { id: "u", tz: "UTC" },
      currently_editing: [null, { id: "v" }],
    });
    assert.deepEqual(
      drift.filter((line) => line.startsWith("personal_dropped")),
      [
        "personal_dropped author_details",
        "personal_dropped creator_details.shoe_size",
        "personal_dropped currently_editing[]",
      ],
    );
  });

  test("is personal where it is a text at any depth of lists", () => {
    const listed = { author_details: [["Jane Canary", CANARY], [[{ id: "u" }, "Jane Canary"]], 5] };
    const { document, drift } = prepared(listed, DROP);
    assert.deepEqual(document, { author_details: [[null, null], [[{ id: "u" }, null]], 5] });
    assert.deepEqual(drift, ["personal_dropped author_details"]);
    const hash = personalHash(HASH_KEY, "author_details", "Jane");
    assert.deepEqual(prepared({ author_details: [["Jane"]] }, HASH).document, { author_details: [[hash]] });
  });

  test("is personal in the name of whom an unknown field speaks of", () => {
    const { document } = prepared(
      {
        approver: "Jane Canary",
        manager: { name: "Jane Canary", level: 2 },
        editor: ["Jane Canary"],
        desk: { reviewers: [["Jane Canary"]], speakers: [{ name: "Jane Canary", seat: 1 }] },
        owner: [7],
      },
      DROP,
    );
    assert.deepEqual(document, {
      manager: { level: 2 },
      desk: { speakers: [{ seat: 1 }] },
      owner: [7],
    });
  });
});

describe("people in fields that are not known", () => {
  const person = { id: "u1", display_name: "Jane Canary", tz: "UTC" };
  const kept = { id: "u1", tz: "UTC" };

  test("are described by objects below `*_by` and names of people, at any depth", () => {
    const names =
      "approved_by createdBy participants attendees members uploader reviewer users reviewer_id".split(" ");
    for (const name of names) {
      for (const [given, left] of [
        [{ ...person, name: "Jane Canary" }, kept],
        [[person], [kept]],
        [
          { list: [[{ user: { ...kept, name: { first: "Jane" }, slug: "jane" } }]] },
          { list: [[{ user: kept }]] },
        ],
      ] as const) {
        assert.deepEqual(
          prepared({ desk: { [name]: given } }, DROP).document,
          { desk: { [name]: left } },
          name,
        );
      }
    }
  });

  test("are named by texts there, but not by what things are sorted by, nor by IDs", () => {
    const given = {
      approved_by: "Jane",
      attendees: ["Jane"],
      sorted_by: "title",
      reviewer_id: "u1",
      user_ids: ["u1"],
    };
    const left = { sorted_by: "title", reviewer_id: "u1", user_ids: ["u1"] };
    assert.deepEqual(prepared(given, DROP).document, left);
  });

  test("are who has an e-mail address as a key", () => {
    const given = { key_contacts: { "jane@canary.example": { role: "lead" }, desk: { floor: 2 } } };
    assert.deepEqual(prepared(given, DROP).document, { key_contacts: { desk: { floor: 2 } } });
    const { key_contacts: hashed } = prepared(given, HASH).document as typeof given;
    const keys = Object.keys(hashed);
    assert.ok(
      keys.every((key) => key === "desk" || /^[0-9a-f]{64}$/.test(key)),
      keys.join(),
    );
    assert.equal(keys.length, 2);
  });

  test("are whoever has a name beside an e-mail address, unless it is a thing", () => {
    const given = {
      desk: { name: "Jane", email: "j@x.y", floor: 2 },
      company: { name: "Acme", email: "a@x.y" },
    };
    assert.deepEqual(prepared(given, DROP).document, { desk: { floor: 2 }, company: { name: "Acme" } });
  });

  test("J1: are whoever has a name beside an e-mail address in the value of a custom field", () => {
    const value = { id: "f", name: "Jane", first: "Jane", email: CANARY, role: "lead", label: "Jane" };
    const reversed = Object.fromEntries(Object.entries(value).reverse());
    const kept = { id: "f", role: "lead" };
    for (const given of [value, reversed]) {
      for (const [shape, document, left] of [
        ...(["custom_fields", "custom_field_values", "previewable_custom_field_values"] as const).map(
          (name) => ["dynamic", { [name]: { cf: given } }, { [name]: { cf: kept } }] as const,
        ),
        ["dynamic", { custom_field_values: { cf: [given] } }, { custom_field_values: { cf: [kept] } }],
        [
          "dynamic",
          { custom_fields_details: [{ id: "cf", value: given }] },
          { custom_fields_details: [{ id: "cf", value: kept }] },
        ],
        [
          "full",
          { custom_fields: [{ id: "cf", name: "lead", value: [given] }] },
          { custom_fields: [{ id: "cf", name: "lead", value: [kept] }] },
        ],
      ] as const)
        assert.deepEqual(prepared(document, DROP, shape).document, left);
    }
  });

  test("are not told by what is true or false", () => {
    const given = { photo: true, has_email: false, show_address: true };
    assert.deepEqual(prepared(given, DROP).document, given);
  });
});

describe("addresses and credentials, wherever they stand", () => {
  test("J2: go from texts that are a URL, under both policies", () => {
    for (const [given, left] of [
      ["https://jane:secret@host.example/a", "https://host.example/a"],
      ["https://jane@host.example:p@host.example", "https://host.example"],
      ["ftp://jane:s@h.example/a", "ftp://h.example/a"],
      [" //jane@h.example\n", " //h.example\n"],
      ["https:/jane:s@h.example", "https:/h.example"],
      ["HTTPS:\\\\jane:s@h.example/a", "HTTPS:\\\\h.example/a"],
      ["https://h.example/to/https://jane:s@i.example/", "https://h.example/to/https://i.example/"],
      ["https://h.example/?u=https://jane:s@i.example/", "https://h.example/?u=https://i.example/"],
      ["https://h.example/?a=1&mail=jane%40x.example&b=2#top", "https://h.example/?a=1&mail=&b=2#top"],
      ["https://h.example/a?jane@x.example", "https://h.example/a?"],
      ["https://h.example/a#to=jane%2540x.example", "https://h.example/a#to="],
      ["mailto:jane@x.example", "mailto:jane@x.example"],
      ["https://h.example/@jane?a=%2F&at=@b", "https://h.example/@jane?a=%2F&at=@b"],
      ["write to jane@x.example, 40 % off", "write to jane@x.example, 40 % off"],
    ] as const) {
      for (const options of [DROP, HASH]) {
        const document = { title: given, custom_field_values: { cf: [given] }, unknown: [{ inner: given }] };
        const expected = { title: left, custom_field_values: { cf: [left] }, unknown: [{ inner: left }] };
        assert.deepEqual(prepared(document, options).document, expected, given);
      }
    }
    const { drift } = prepared({ attachments: [{ url: "https://j:s@h.example" }] }, DROP);
    assert.deepEqual(drift, ["personal_dropped attachments[].url"]);
  });

  test("J6: stay in texts that are more than one URL, byte for byte", () => {
    const url = fc
      .tuple(
        fc.constantFrom("https://", "//", "ftp://", "https:/", "https:\\\\", "http://"),
        fc.constantFrom("jane:secret@", "team@", "@", ""),
        fc.constantFrom("agency", "office.example", "host.example/a@b"),
        fc.constantFrom("", "?m=jane@x.example", "/a?m=jane%40x.example&b=2#top", "#@"),
      )
      .map((parts) => parts.join(""));
    const text = fc.oneof(
      fc
        .tuple(url, fc.constantFrom(" ", "\n", ", ", " and ", '","', "><"), url)
        .map((parts) => parts.join("")),
      url.map((each) => `<a href="${each}">${each}</a>`),
      url.map((each) => `[@agency](${each})`),
      url.map((each) => `See ${each}`),
      url.map((each) => JSON.stringify({ url: each, list: [each] })),
      fc.tuple(fc.lorem({ maxCount: 4 }), url, fc.string()).map((parts) => parts.join(" ")),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(DROP, HASH), (title, options) => {
        const document = { title, custom_field_values: { cf: [title, { inner: title }] }, unknown: [title] };
        const { document: left, drift } = prepared(document, options);
        assert.deepEqual(left, document);
        assert.ok(!drift.join().includes("personal"), drift.join());
      }),
    );
  });

  test("J3: are treated as keys, and as a user's ID, where the contract knows both", () => {
    const given = {
      author_details: { id: CANARY, tz: "UTC" },
      author: CANARY,
      favorited_by_users: ["u1", CANARY],
      field_locks: { [CANARY]: "locked", title: "x" },
      custom_field_values: { cf: { id: "f", uploaded_by: CANARY }, [CANARY]: "x" },
      [CANARY]: { anything: 1 },
    };
    const { document, drift } = prepared(given, DROP);
    assert.deepEqual(document, {
      author_details: { tz: "UTC" },
      favorited_by_users: ["u1", null],
      field_locks: { title: "x" },
      custom_field_values: { cf: { id: "f" } },
    });
    assert.ok(!drift.join().includes(CANARY));
    const hash = personalHash(HASH_KEY, "email", CANARY);
    assert.deepEqual(
      prepared(given, HASH).document,
      JSON.parse(JSON.stringify(given).replaceAll(CANARY, hash)),
    );
  });

  test("are looked for in a text in time that grows with its length", () => {
    for (const part of ["//a@", "//a", "%25", "//h?a@", "/@", "@."]) {
      const title = `//h?${part.repeat(200_000)}`;
      const began = performance.now();
      prepared({ title }, DROP);
      assert.ok(performance.now() - began < 3000, part);
    }
  });
});

describe("names of unknown fields", () => {
  test("look personal where they speak of a person's address, number, name, picture or life", () => {
    for (const name of [
      "contact_email",
      "E-Mail",
      "workEmailAddress",
      "mobile_phone",
      "reviewer_name",
      "Mobilnummer",
      "displayName",
      "profile_image",
      "avatar_small_url",
      "home_address",
      "name_of_contact_email",
      ...(
        "mail work_mail workMail privateMail mailto cellphone mobile mobileNumber telefono teléfono fax picture photo " +
        "photo_url photoURL photourl photo_120x120 portrait vorname Nachname nom prénom apellido apellidos birth " +
        "birthday birth_date birthPlace dateOfBirth iban IBANNumber tax_id taxId national_id ssn ip_address ipAddress " +
        "street street2 address address2 address_line_1 homeaddress email2 user-name EMail eMail LASTNAME"
      ).split(" "),
    ]) {
      assert.ok(meaningOfName(name).personal, name);
    }
  });

  test("do not where they only look a little like it", () => {
    for (const name of [
      "file_name",
      "name",
      "automobile",
      "address_space",
      "microphone",
      "timezone_name",
      ...(
        "photo_count picture_format mail_template mobile_app streetwise nominal mailing_list telemetry intel hotel " +
        "cellar caption status signature_required ip_version tipo"
      ).split(" "),
    ]) {
      assert.ok(!meaningOfName(name).personal, name);
    }
  });
});

describe("unknown fields that look personal", () => {
  test("are dropped wherever they stand, and what is beside them stays", () => {
    const { document, drift } = prepared(
      {
        contact_email: CANARY,
        desk: {
          owner: { contact_name: CANARY, floor: 2 },
          lines: [{ phone: CANARY, ext: 1 }, [{ phone: CANARY }]],
        },
        author_details: { id: "u", secondary_email: CANARY, tz: "Europe/Oslo" },
        custom_field_values: { cf: { id: "f", uploader_email: CANARY } },
      },
      DROP,
    );
    assert.deepEqual(document, {
      desk: { owner: { floor: 2 }, lines: [{ ext: 1 }, [{}]] },
      author_details: { id: "u", tz: "Europe/Oslo" },
      custom_field_values: { cf: { id: "f" } },
    });
    assert.deepEqual(
      drift.filter((line) => line.startsWith("personal_dropped")),
      [
        "author_details.secondary_email",
        "contact_email",
        "custom_field_values.{}.uploader_email",
        "desk.lines.phone",
        "desk.owner.contact_name",
      ].map((path) => `personal_dropped ${path}`),
    );
  });

  test("are hashed where the policy says so, lists and objects as their JSON", () => {
    const { document } = prepared({ contact_email: ["a", "b"], notes: { phone: "1" } }, HASH);
    assert.deepEqual(document, {
      contact_email: personalHash(HASH_KEY, "contact_email", '["a","b"]'),
      notes: { phone: personalHash(HASH_KEY, "phone", "1") },
    });
    const made = transform(
      [[{ shape: "dynamic", document: { id: "i", contact_email: "x" } }]],
      undefined,
      HASH,
    );
    const extra: unknown = JSON.parse(String(onlyRow(made, "content").extra));
    assert.deepEqual(extra, { contact_email: personalHash(HASH_KEY, "contact_email", "x") });
  });

  test("are kept where the policy keeps", () => {
    const { document } = prepared({ contact_email: CANARY }, { ...DROP, policy: "keep" });
    assert.deepEqual(document, { contact_email: CANARY });
  });

  test("are dropped where somebody nests them deeper than anybody looks", () => {
    let deep: JsonObject = { harmless: CANARY };
    for (let depth = 0; depth < 40; depth++) deep = { level: deep };
    assert.ok(!JSON.stringify(prepared({ deep }, DROP).document).includes(CANARY));
  });

  test("are dropped from lists within thousands of lists, of which others are kept", () => {
    const nested = (inner: unknown) => {
      let lists = inner;
      for (let depth = 0; depth < 3000; depth++) lists = [lists];
      return lists;
    };
    const given = { author_details: nested(CANARY), reviewer: nested(CANARY), levels: nested(7) };
    const { document } = prepared(given, DROP);
    assert.ok(!JSON.stringify(document).includes(CANARY));
    assert.deepEqual(Object.keys(document), ["author_details", "levels"]);
  });

  test("do not pass for data by being called __proto__ or standing in it", () => {
    const hostile: JsonObject = Object.fromEntries([["__proto__", { email: CANARY, kept: 1 }]]);
    const { document } = prepared({ nested: hostile }, DROP);
    assert.equal(JSON.stringify(document), '{"nested":{"__proto__":{"kept":1}}}');
    const hashed = prepared({ nested: hostile }, HASH);
    assert.ok(!JSON.stringify(hashed.document).includes(CANARY));
  });
});

describe("under the policy drop no trace is left of a personal-looking field", () => {
  /** The field in every shape that could hide it. */
  const HIDDEN: readonly unknown[] = [
    { contact_email: CANARY },
    [{ contact_email: CANARY }],
    [[{ contact_email: CANARY }]],
    { deep: [{ contact_email: { value: [CANARY] } }] },
    `https://h.example/?for=${CANARY}`,
    [`https://${CANARY}:secret@h.example/`],
    { [CANARY]: 1 },
  ];
  const RESOURCES = ["dynamic", "full", "destination", "custom_field_definition"] as const;

  for (const resource of RESOURCES) {
    test(`in place of any value, or beside any, of the ${resource} resource`, () => {
      const leaks: string[] = [];
      for (const [at, path] of placesBelow(richWorld()[resource]).entries()) {
        const shapes = isMap(path) ? HIDDEN.filter((value) => Array.isArray(value)) : HIDDEN;
        // The short form takes each of them in turn.
        for (const value of either([shapes[at % shapes.length]], shapes)) {
          const world = richWorld();
          place(world[resource], path, value);
          if (leaves(world, resource)) leaks.push(`${path.join(".")} <- ${JSON.stringify(value)}`);
        }
      }
      assert.deepEqual(leaks, []);
    });
  }

  /** In these a key is the ID of something and no field's name. */
  function isMap(path: Path): boolean {
    return /^(custom_field(s|_values|_value_ids)|previewable_custom_field_values|field_locks|select_value_ids|added_to_collection_date|pinned_collection_rank)$/.test(
      String(path.at(-1)),
    );
  }

  function leaves(world: World, resource: (typeof RESOURCES)[number]): boolean {
    // What a lookup answers was held against the contract before: its shape is sound, or the run ended.
    if (resource === "dynamic" || resource === "full") {
      const { document } = prepared(world[resource], DROP, resource);
      if (JSON.stringify(document).includes(CANARY)) return true;
    }
    const { rows, drift } = run(world, DROP);
    return JSON.stringify([[...rows.values()], drift], (_, value) =>
      typeof value === "bigint" ? `${value}` : value,
    ).includes(CANARY);
  }

  type Path = readonly (string | number)[];

  function placesBelow(value: unknown, path: Path = []): Path[] {
    if (Array.isArray(value))
      return value.flatMap((inner, at) => [[...path, at], ...placesBelow(inner, [...path, at])]);
    if (!isObject(value)) return [];
    const inner = Object.entries(value).flatMap(([key, each]) => [
      [...path, key],
      ...placesBelow(each, [...path, key]),
    ]);
    return [[...path, "something_new"], ...inner].filter(([first]) => first !== "id");
  }

  function place(root: JsonObject, path: Path, value: unknown): void {
    const [last] = path.slice(-1);
    let at: unknown = root;
    for (const key of path.slice(0, -1))
      at = isObject(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined;
    if ((isObject(at) || Array.isArray(at)) && last !== undefined) Reflect.set(at, last, value);
  }
});

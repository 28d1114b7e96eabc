import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { basicCredentials, REDACTED, redactor, Secret } from "../../../src/common/secret.ts";
import { TokenRedactor } from "../../../src/extract/pages/token-redactor.ts";
import { either } from "../../long.ts";
import fc from "../../properties.ts";

const TOKEN = "tok/en+51c07e9b=";
const redactorOf = (token: string) => new TokenRedactor(new Secret(token));
const redacted = (token: string, json: string) => redactorOf(token).redact(Buffer.from(json));

/** Each character of the special ones as serializers in use write it. */
const SERIALIZERS: Readonly<Record<string, (json: string) => string>> = {
  "nothing more than has to be": (json) => json,
  slashes: (json) => json.replaceAll("/", "\\/"),
  "what HTML might read": (json) =>
    json.replaceAll("=", "\\u003d").replaceAll("&", "\\u0026").replaceAll("'", "\\u0027"),
  "what HTML might read, and plus signs, in capitals": (json) =>
    json.replaceAll("+", "\\u002B").replaceAll("=", "\\u003D").replaceAll("/", "\\u002F"),
};

suite("S4: the token in a body", () => {
  const base64 = Buffer.from(TOKEN).toString("base64");
  const forms = {
    "as it is": TOKEN,
    "in a link": `https://files.example/a?token=${encodeURIComponent(TOKEN)}&size=2`,
    "in a link, in small letters": `https://files.example/a?token=${encodeURIComponent(TOKEN).toLowerCase()}`,
    "in a form": new URLSearchParams({ token: TOKEN }).toString(),
    "as Basic credentials": basicCredentials(new Secret(TOKEN)),
    "as Basic credentials with another password": `Basic ${Buffer.from(`${TOKEN}:secret`).toString("base64")}`,
    "in base64": `"${base64}"`,
    "in base64 for links": Buffer.from(TOKEN).toString("base64url"),
  };
  for (const [what, form] of Object.entries(forms)) {
    test(`${what} is replaced, however its characters are escaped`, () => {
      for (const [escaping, serialized] of Object.entries(SERIALIZERS)) {
        const json = serialized(JSON.stringify({ id: "c-1", title: `before ${form} after`, n: 1 }));
        const body = redacted(TOKEN, json);
        const { title, ...rest } = JSON.parse(String(body?.bytes));
        assert.deepEqual(rest, { id: "c-1", n: 1 }, escaping);
        assert.equal(title, redactor([new Secret(TOKEN)])(`before ${form} after`));
        assert.ok(title.includes(REDACTED) && title.startsWith("before ") && title.endsWith(" after"), title);
        assert.deepEqual([...(body?.texts ?? [])], [["title", 1]]);
      }
    });
  }

  test("is replaced in names, in lists, and in what an object holds, and counted by the name", () => {
    const json = `{"a":["x ${TOKEN}","y"], "b" : {"${TOKEN}":"${TOKEN}"},"c":"${TOKEN} ${TOKEN}","d\\n":"${TOKEN}"}`;
    const body = redacted(TOKEN, json);
    assert.deepEqual(JSON.parse(String(body?.bytes)), {
      a: [`x ${REDACTED}`, "y"],
      b: { [REDACTED]: REDACTED },
      c: `${REDACTED} ${REDACTED}`,
      "d\n": REDACTED,
    });
    assert.deepEqual(
      [...(body?.texts ?? [])],
      [
        ["a", 1],
        [REDACTED, 2],
        ["c", 1],
        ["d\n", 1],
      ],
    );
  });

  test("is no number, and no part of an escape", () => {
    const number = '{"id":"c-1","wordcount":1234567890,"title":"1234567890"}';
    assert.equal(
      String(redacted("1234567890", number)?.bytes),
      '{"id":"c-1","wordcount":1234567890,"title":"[redacted]"}',
    );
    assert.equal(redacted("nABCDEFGH", '{"title":"\\nABCDEFGH"}'), undefined, "a line feed and ABCDEFGH");
    assert.equal(redacted("00e41234", '{"title":"\\u00e41234"}'), undefined);
  });

  test("leaves every other byte as it came", () => {
    const json = ` {"n":1.50e3, "big":12345678901234567890,"half":"\\ud800","t":"${TOKEN}" ,"t":"\\u0041é" }\n`;
    assert.equal(String(redacted(TOKEN, json)?.bytes), json.replace(TOKEN, REDACTED));
  });

  test("is not looked for where it is so short that it may be a word", () => {
    assert.equal(redacted("article", '{"title":"an article"}'), undefined);
    assert.equal(redacted("articles", '{"title":"articles"}')?.bytes.toString(), '{"title":"[redacted]"}');
  });

  test("is found in whatever characters it has, some of which every serializer may escape", () => {
    for (const token of ["пароль-для-службы", "a/b+c=d/e+f=", '"\\"\\"\\"\\"\\']) {
      const ascii = JSON.stringify({ t: `x${token}y` }).replaceAll(
        /[^ -~]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      for (const json of [JSON.stringify({ t: `x${token}y` }), ascii]) {
        assert.equal(String(redacted(token, json)?.bytes), '{"t":"x[redacted]y"}', json);
      }
    }
  });

  test("in a body that is no JSON leaves one that is none", () => {
    for (const body of [`"${TOKEN}`, `{"a":"\\q${TOKEN}"}`, TOKEN, `<p class="${TOKEN}">`]) {
      const shown = String(redacted(TOKEN, body)?.bytes ?? body);
      assert.throws(() => JSON.parse(shown), SyntaxError);
    }
  });
});

test("S4: of any document the texts are redacted, and nothing else changes", () => {
  const token = fc.stringMatching(/^[!-9;-~]{8,24}$/);
  const echoing = (value: string) => fc.tuple(fc.string(), fc.string()).map(([a, b]) => a + value + b);
  fc.assert(
    fc.property(
      token.chain((secret) => {
        const text = fc.oneof(
          fc.string({ unit: "binary" }),
          echoing(secret),
          echoing(encodeURIComponent(secret)),
        );
        const { tree } = fc.letrec((tie) => ({
          tree: fc.oneof(
            { maxDepth: 4 },
            text,
            fc.double(),
            fc.boolean(),
            fc.constant(null),
            tie("list"),
            tie("object"),
          ),
          list: fc.array(tie("tree"), { maxLength: 4 }),
          object: fc.dictionary(text, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
        }));
        return fc.tuple(fc.constant(secret), tree);
      }),
      ([secret, value]) => {
        const json = JSON.stringify(value);
        const redact = redactor([new Secret(secret)]);
        const expected = JSON.stringify(value).replaceAll(/"(?:[^"\\]|\\.)*"/g, (literal) => {
          const text = JSON.parse(literal);
          return redact(text) === text ? literal : JSON.stringify(redact(text));
        });
        assert.equal(String(redacted(secret, json)?.bytes ?? json), expected);
      },
    ),
    { numRuns: either(400, 2000) },
  );
});

/** A character as those write it who escape it, and as it is. */
const WRITERS: readonly ((char: string) => string)[] = [
  (char) => char,
  (char) => percent(char),
  (char) => percent(char).toLowerCase(),
  (char) => percent(char).replace("%", "%25"),
  (char) => `&#${char.charCodeAt(0)};`,
  (char) => `&#x${char.charCodeAt(0).toString(16)};`,
  (char) => `&#X00${char.charCodeAt(0).toString(16).toUpperCase()};`,
  (char) => `&amp;#${char.charCodeAt(0)};`,
  (char) => inJson(char),
  (char) => ENTITIES[char] ?? char,
];
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  '"': "&quot;",
  "/": "&sol;",
  "=": "&equals;",
  _: "&lowbar;",
};

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

function inJson(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

suite("J5: the token in each form that the promise names", () => {
  const token = fc.stringMatching(/^([0-9A-Za-z]{1,9}[!-/;-@[-`{-~]{1,2}){1,4}[0-9A-Za-z]{6}$/);
  const writers = fc.array(fc.constantFrom(...WRITERS), { minLength: 1, maxLength: 30 });
  const written = (text: string, chosen: typeof WRITERS, which = /./gs) => {
    let at = 0;
    return text.replace(which, (char) => chosen[at++ % chosen.length]?.(char) ?? char);
  };
  const signs = /[^A-Za-z0-9]/g;
  const serializers = fc.constantFrom(
    (text: string) => JSON.stringify(text),
    (text: string) => `"${text.replaceAll(signs, inJson)}"`,
    ...Object.values(SERIALIZERS).map((serialize) => (text: string) => serialize(JSON.stringify(text))),
  );
  const textsOf = (secret: string, body: string) =>
    JSON.parse(String(redacted(secret, body)?.bytes ?? body)).map(String);

  test("is replaced with any character but letters and digits escaped", () => {
    fc.assert(
      fc.property(token, writers, serializers, fc.nat(200_000), (secret, chosen, serialize, before) => {
        const text = `before ${written(secret, chosen, signs)} after`;
        const body = `["${" ".repeat(before)}",${serialize(text)}]`;
        assert.equal(textsOf(secret, body)[1], `before ${REDACTED} after`, body.trim());
      }),
      { numRuns: either(400, 4000) },
    );
  });

  test("is replaced with letters and digits escaped where another form stands in the same response", () => {
    fc.assert(
      fc.property(token, writers, writers, serializers, (secret, chosen, all, serialize) => {
        const texts = [`a ${written(secret, all)} b`, `c ${written(secret, chosen, signs)} d`];
        const shown = textsOf(secret, `[${texts.map(serialize)}]`);
        assert.deepEqual(shown, [`a ${REDACTED} b`, `c ${REDACTED} d`]);
      }),
      { numRuns: either(400, 4000) },
    );
  });

  test("is replaced in base64, as a user with any password and as the password of any user", () => {
    const word = fc.stringMatching(/^[a-z]{0,9}$/);
    const encodings = fc.constantFrom(
      (bytes: Buffer) => bytes.toString("base64"),
      (bytes: Buffer) => bytes.toString("base64url"),
      (bytes: Buffer) => encodeURIComponent(bytes.toString("base64")),
    );
    fc.assert(
      fc.property(token, word, word, encodings, serializers, (secret, user, password, encode, serialize) => {
        for (const [plain, left] of [
          [secret, ""],
          [`${secret}:${password}`, ""],
          [`${user}:${secret}`, Buffer.from(`${user}:`).toString("base64")],
        ] as const) {
          const [shown] = textsOf(secret, `[${serialize(`before ${encode(Buffer.from(plain))} after`)}]`);
          const [, before] = /^before ([^ ]*)\[redacted\] after$/.exec(shown) ?? [];
          assert.ok(before !== undefined && left.startsWith(before), `${plain}: ${shown}`);
        }
      }),
      { numRuns: either(400, 4000) },
    );
  });
});

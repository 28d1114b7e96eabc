/**
 * One person's details in documents and cells: which they are, and what is left without them. The user ID stays, so that
 * rows can be joined as before; so does what the specification knows of a user that is not personal.
 */
import { parseExact, parseIfJson } from "../common/json.ts";
import { isObject, type JsonObject } from "../raw/document.ts";
import { looksPersonal } from "../raw/personal/names.ts";
import {
  FREE_TEXTS,
  KEPT_ATTRIBUTES,
  NAMED_BESIDE,
  PERSON_FIELDS,
  PERSONAL_ATTRIBUTES,
  USER_FIELDS,
} from "../raw/personal/places.ts";
import { fieldsUnknown, isRawShape } from "../raw/prepare.ts";

/** What the tables say of an ID. */
export interface Identity {
  /** Whether the ID stands where the tables have users. */
  readonly user: boolean;
  /** A table of other things that has the ID as its key. */
  readonly otherTable: string | undefined;
}

/** Shorter texts are found everywhere. */
const TELLING_LENGTH = 4;
/** From this length on a detail is looked for within other texts. */
const DISTINCT_LENGTH = 8;

export class Person {
  readonly id: string;
  /** Texts that stand for this person and nobody else: addresses, names, numbers, or their hashes. */
  readonly details = new Set<string>();
  /** Everything that was found in descriptions of the person. */
  readonly #described = new Set<string>();

  /** Whether the ID is known as a user's: then an object that has it describes the person, wherever it stands. */
  #isUser: boolean;
  /** Something else has the same ID: an object that has it describes the person only where users are specified. */
  readonly #isShared: boolean;

  constructor(id: string, { user, otherTable }: Identity) {
    this.id = id;
    this.#isUser = user;
    this.#isShared = otherTable !== undefined;
  }

  /** Takes note of a value that stands in a description of the person. */
  note(attribute: string, value: unknown): void {
    if (isObject(value)) for (const [name, inner] of Object.entries(value)) this.note(name, inner);
    if (value === null || value === undefined) return;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text === "") return;
    this.#described.add(text);
    const telling = typeof value === "string" && text.length >= TELLING_LENGTH && !FREE_TEXTS.has(attribute);
    if (telling && (PERSONAL_ATTRIBUTES.has(attribute) || looksPersonal(attribute))) this.details.add(text);
  }

  /** Texts of which one stands in every JSON text that has something of the person, as JSON writes them. */
  marks(): string[] {
    return [this.id, ...this.details].map((text) => JSON.stringify(text).slice(1, -1));
  }

  /** An answer's document without the person; undefined where it has nothing of them. */
  fromDocument(text: string, shape: string): { text: string; unknownFields: number } | undefined {
    const document = parseExact(text);
    if (!isObject(document)) return undefined;
    if (!isRawShape(shape)) throw new TypeError(`a raw document has the unknown shape ${shape}`);
    let found = this.#fromItem(document);
    for (const { parent, path } of fieldsUnknown(shape, document)) {
      found += this.#fromField(parent, path.at(-1) ?? "", true);
    }
    if (found === 0) return undefined;
    return { text: JSON.stringify(document), unknownFields: fieldsUnknown(shape, document).length };
  }

  /**
   * A cell of JSON, or of any text, without the person: `null` where nothing is left of it, undefined where it has
   * nothing of them. Texts within it that show the person's details go too, for nobody knows what such fields mean.
   * `atUsers`: whether the cell comes from where users are specified.
   */
  fromCell(text: string, atUsers = false): string | null | undefined {
    const value = parseIfJson(text) ?? text;
    if (typeof value === "string") return this.#showsIn(value) ? null : undefined;
    const found = (isObject(value) ? this.#fromItem(value) : 0) + this.#within(value, true, atUsers);
    return found === 0 ? undefined : JSON.stringify(value);
  }

  /** Whether an example of the drift, which may be cut, shows something of the person. */
  isShownBy(example: string, path: string): boolean {
    const cut = example.endsWith("…") ? example.slice(0, -1) : undefined;
    const ofPersons = path.split(/[.[]/).some((name) => USER_FIELDS.has(name)) || path.startsWith("users.");
    if (ofPersons && [...this.#described].some((text) => text === example || isCutOf(cut, text))) return true;
    // The ID alone is nothing personal.
    const value = parseIfJson(example);
    if (example === this.id) return false;
    if (typeof value === "object" && value !== null) return this.fromCell(example, ofPersons) !== undefined;
    return (this.#isUser ? this.marks() : [...this.details]).some(
      (mark) => example.includes(mark) || endsWithBeginning(cut, mark),
    );
  }

  /** Whether a text of unknown meaning is a detail of the person, or has one in it. */
  #showsIn(text: string): boolean {
    if (this.details.has(text)) return true;
    return [...this.details].some((detail) => detail.length >= DISTINCT_LENGTH && text.includes(detail));
  }

  /** People in an item: in their places, and whoever is described by an object with the person's ID. */
  #fromItem(item: JsonObject): number {
    let found = 0;
    for (const key of PERSON_FIELDS) {
      const value = item[key];
      const beside = NAMED_BESIDE.get(key);
      const meant = beside !== undefined && item[beside] === this.id;
      if (typeof value === "string" && (meant || this.#showsIn(value))) {
        this.note("name", value);
        delete item[key];
        found += 1;
      } else if (isObject(value) && meant && typeof value.id !== "string") {
        this.#isUser = true;
        found += this.#strip(value);
      }
    }
    for (const [key, value] of Object.entries(item)) {
      found += this.#within(value, PERSON_FIELDS.has(key), USER_FIELDS.has(key));
    }
    return found;
  }

  /** `texts`: whether details that stand alone go too. `atUsers`: whether users are specified here. */
  #within(value: unknown, texts: boolean, atUsers: boolean): number {
    if (Array.isArray(value)) return this.#fromList(value, texts, atUsers);
    if (!isObject(value)) return 0;
    if (this.#isDescribedBy(value, atUsers)) return this.#strip(value);
    let found = 0;
    // Another person may share a name with this one.
    const ofAnother = typeof value.id === "string" || typeof value.user_id === "string";
    for (const key of Object.keys(value)) found += this.#fromField(value, key, texts && !ofAnother);
    return found;
  }

  /** Campaigns, fields and whatever else a service may send have an `id` too. */
  #isDescribedBy(value: JsonObject, atUsers: boolean): boolean {
    const says = value.user_id === this.id || (atUsers && value.id === this.id);
    if (says) this.#isUser = true;
    return says || (value.id === this.id && this.#isUser && !this.#isShared);
  }

  #fromList(list: unknown[], texts: boolean, atUsers: boolean): number {
    let found = 0;
    for (const [index, element] of list.entries()) {
      if (texts && typeof element === "string" && this.#showsIn(element)) {
        list[index] = null;
        found += 1;
      } else {
        found += this.#within(element, texts, atUsers);
      }
    }
    return found;
  }

  #fromField(parent: JsonObject, key: string, texts: boolean): number {
    const value = parent[key];
    if (typeof value !== "string") return this.#within(value, texts, USER_FIELDS.has(key));
    if (!texts || !this.#showsIn(value)) return 0;
    delete parent[key];
    return 1;
  }

  #strip(description: JsonObject): number {
    const taken = Object.keys(description).filter((name) => !KEPT_ATTRIBUTES.has(name));
    for (const name of taken) {
      this.note(name, description[name]);
      delete description[name];
    }
    return taken.length;
  }
}

function isCutOf(cut: string | undefined, text: string): boolean {
  return cut !== undefined && cut !== "" && text.startsWith(cut);
}

/** Whether a text that was cut ends with the beginning of another. */
function endsWithBeginning(cut: string | undefined, text: string): boolean {
  if (cut === undefined) return false;
  for (let length = Math.min(text.length, cut.length); length >= TELLING_LENGTH; length--) {
    if (cut.endsWith(text.slice(0, length))) return true;
  }
  return false;
}

/**
 * Names of unknown fields that are treated as personal. docs/personal-data.md lists them. Names are compared in lower
 * case, without accents and with one `_` between words: `workMail`, `work-mail` and `Work Mail` are `work_mail`. A name may
 * lack the `_` of an entry (`photourl`).
 */

/** Whole words anywhere in a name, also in the plural. `birth*` begins a word; `*email*` may be any part of it. */
// biome-ignore format: lists of words
export const PERSONAL_WORDS = {
  "e-mail": [
    "*email*", "*e_mail*", "mailto", "work_mail",
  ],
  telephone: [
    "phone", "telephone", "cell_phone", "home_phone", "mobile_phone", "work_phone", "tel", "telefon*",
    "telefax", "fax", "handynummer", "mobil", "mobilnummer", "movil", "celular", "cellulare", "msisdn",
  ],
  "a person's name": [
    "full_name", "first_name", "last_name", "middle_name", "given_name", "family_name", "maiden_name",
    "nick_name", "user_name", "screen_name", "name_sort", "surname", "forename", "patronymic", "vorname",
    "nachname", "familienname", "nom", "prenom", "nombre_completo", "apellido", "cognome", "nome_completo",
    "sobrenome", "voornaam", "achternaam", "fornavn", "etternavn", "fornamn", "efternamn", "etunimi",
    "sukunimi", "imie", "nazwisko", "jmeno", "prijmeni",
  ],
  picture: [
    "avatar", "gravatar", "headshot", "selfie", "profile_image", "profile_photo", "profile_pic",
    "profile_picture", "user_image", "user_photo", "user_picture", "author_image", "author_photo",
    "author_picture",
  ],
  life: [
    "bio", "biography", "birth*", "date_of_birth", "dob", "geburt*", "naissance", "nacimiento", "nascita",
    "nascimento",
  ],
  "identity and accounts": [
    "iban", "ssn", "social_security*", "passport", "tax_id", "tax_number", "tax_no", "national_id",
    "national_insurance*", "identity_card", "id_card", "driver_license", "drivers_license", "driving_licence",
    "license_plate", "credit_card", "card_number", "bank_account", "account_number", "personnummer",
    "steuer_id", "steuernummer", "nif", "dni", "cpf", "curp",
  ],
  address: [
    "ip_address", "ip_addr", "client_ip", "remote_ip", "user_ip", "mac_address", "street_address",
    "home_address", "postal_address", "mailing_address", "billing_address", "shipping_address", "anschrift",
    "hausnummer",
  ],
} as const;

/** Words only at the end of a name, or before words that say which one or in what form: `photo_url`, not `photo_count`. */
// biome-ignore format: lists of words
export const PERSONAL_ENDINGS = {
  words: [
    "mail", "mobile", "cell", "handy", "login", "signature", "photo", "picture", "portrait", "street",
    "strasse", "address", "adresse", "direccion", "indirizzo", "endereco", "calle", "ip",
  ],
  before: [
    "url", "uri", "link", "href", "src", "path", "file", "image", "thumb", "thumbnail", "number", "nr", "no",
    "num", "text", "value", "raw", "full", "small", "medium", "large", "big", "original", "square", "private",
    "work", "home", "office", "business", "primary", "secondary", "alt", "line",
  ],
} as const;

/** Things whose name is not personal: `file_name`. The name of anything else is: `reviewer_name`, `contact_name`. */
// biome-ignore format: a list of words
export const NAMED_THINGS = [
  "app", "application", "brand", "bucket", "campaign", "category", "channel", "city", "class", "collection",
  "column", "company", "country", "database", "department", "domain", "event", "field", "file", "folder",
  "font", "form", "format", "group", "host", "icon", "image", "instance", "key", "label", "language", "list",
  "locale", "model", "node", "organization", "page", "place", "plan", "platform", "playlist", "product",
  "project", "property", "queue", "region", "role", "segment", "server", "service", "site", "source", "space",
  "stage", "table", "tag", "task", "team", "template", "tenant", "theme", "timezone", "topic", "type",
  "variable", "venue", "workflow", "zone",
] as const;

/**
 * Words for people, at the end of a name or before {@link PERSON_SUFFIXES}. There a text is a person's name, also in lists,
 * and an object describes a person.
 */
// biome-ignore format: a list of words
export const PERSONS = [
  "ansprechpartner", "approver", "assignee", "attendee", "author", "bearbeiter", "collaborator", "commenter",
  "contact", "contributor", "creator", "customer", "editor", "employee", "guest", "manager", "member",
  "moderator", "organiser", "organizer", "owner", "participant", "people", "person", "photographer",
  "presenter", "recipient", "requester", "reviewer", "sender", "speaker", "staff", "student", "subscriber",
  "teacher", "translator", "uploader", "user", "writer",
] as const;

/** `reviewer_id: { "name": ... }`. A text under `_id` is an ID. */
const PERSON_SUFFIXES = ["id", "details", "detail", "info", "profile", "data", "list"];

/** `approved_by` names a person, unless its first word is one of these. */
// biome-ignore format: a list of words
export const NO_PERSONS_BY = [
  "divided", "driven", "filter", "filtered", "followed", "group", "grouped", "multiplied", "order", "ordered",
  "powered", "replaced", "separated", "sort", "sorted", "stand", "superseded",
] as const;

/** Attributes that are personal in the description of a person, besides all that are personal anywhere. */
// biome-ignore format: a list of words
export const OF_PERSON = [
  "name", "names", "label", "text", "value", "first", "last", "middle", "given", "family", "full", "nick",
  "handle", "initials", "slug", "about",
] as const;

/** A name with one `_` between its words. */
function plainName(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/ß/g, "ss")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1_$2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll}{2})/gu, "$1_$2")
    .replace(/(\p{L})(\p{N})/gu, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}

const anyOf = (patterns: readonly string[]) => patterns.join("|");
const loosely = (entry: string) => entry.replaceAll("_", "_?");

function patternOf(entry: string): string {
  const bare = loosely(entry.replaceAll("*", ""));
  if (entry.startsWith("*")) return bare;
  return entry.endsWith("*") ? `(?:^|_)${bare}` : `(?:^|_)${bare}(?:e?s)?(?:_|$)`;
}

const ANYWHERE = new RegExp(anyOf(Object.values(PERSONAL_WORDS).flat().map(patternOf)));
const AT_END = new RegExp(
  `(?:^|_)(?:${anyOf(PERSONAL_ENDINGS.words)})(?:e?s)?(?:_?(?:${anyOf(PERSONAL_ENDINGS.before)}|\\d+x?))*$`,
);
const NAMED = /(?:^|_)([a-z0-9]+)_names?(?:_|$)/;
const THINGS: ReadonlySet<string> = new Set(NAMED_THINGS);
const PERSON = new RegExp(`(?:^|_)(?:${anyOf(PERSONS)})s?(?:_(?:${anyOf(PERSON_SUFFIXES)})s?)?$`);
const BY = new RegExp(
  `^(?!(?:${anyOf(NO_PERSONS_BY)})_)(?:.*_)?[a-z0-9]+_by(?:_(?:${anyOf(PERSON_SUFFIXES)})s?)?$`,
);
const IDS = /_ids?$/;
const E_MAIL = new RegExp(`${anyOf(PERSONAL_WORDS["e-mail"].map(patternOf))}|(?:^|_)mail$`);
const ONE_OF_PERSON: ReadonlySet<string> = new Set(OF_PERSON);

/** What the name of an unknown field tells about its value. */
interface NameMeaning {
  readonly personal: boolean;
  /** Whether it is an e-mail address, so that a name beside it is a person's. */
  readonly email: boolean;
  /** Whether the value is people: `described` by objects, or `named` by texts too. */
  readonly person: "no" | "described" | "named";
  /** Whether it is personal in the description of a person. */
  readonly ofPerson: boolean;
  /** Whether it names one of {@link NAMED_THINGS}. */
  readonly thing: boolean;
}

function meaningOf(name: string): NameMeaning {
  const plain = plainName(name);
  const named = NAMED.exec(plain)?.[1];
  const people = PERSON.test(plain) || BY.test(plain);
  return {
    personal: (named !== undefined && !THINGS.has(named)) || ANYWHERE.test(plain) || AT_END.test(plain),
    email: E_MAIL.test(plain),
    person: people ? (IDS.test(plain) ? "described" : "named") : "no",
    ofPerson: ONE_OF_PERSON.has(plain),
    thing: THINGS.has(plain),
  };
}

/** Whether a text in a field of this name is treated as personal. */
export function looksPersonal(name: string): boolean {
  const { personal, person } = meaningOfName(name);
  return personal || person === "named";
}

/** Names to remember, about 1 MB: every document has the same names. */
const MAX_KNOWN_NAMES = 10_000;
const known = new Map<string, NameMeaning>();

export function meaningOfName(name: string): NameMeaning {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (known.size === MAX_KNOWN_NAMES) known.clear();
  const meaning = meaningOf(name);
  known.set(name, meaning);
  return meaning;
}

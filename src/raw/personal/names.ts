/**
 * Names by which a field that the contract does not know is taken for personal. They are data: docs/personal-data.md
 * lists them. Names are compared in lower case, without accents and with one `_` between their words, so that
 * `workMail`, `work-mail` and `Work Mail` are `work_mail`; where an entry has a `_`, a name may have none (`photourl`).
 */

/** Wherever they stand in a name, as whole words, in the plural too. `birth*` begins a word, `*email*` may be any part. */
export const PERSONAL_WORDS = {
  "e-mail": ["*email*", "*e_mail*", "mailto", "work_mail"],
  telephone: [
    ..."phone telephone cell_phone home_phone mobile_phone work_phone tel telefon* telefax fax".split(" "),
    ..."handynummer mobil mobilnummer movil celular cellulare msisdn".split(" "),
  ],
  "a person's name": [
    ..."full_name first_name last_name middle_name given_name family_name maiden_name nick_name".split(" "),
    ..."user_name screen_name name_sort surname forename patronymic vorname nachname familienname nom prenom".split(
      " ",
    ),
    ..."nombre_completo apellido cognome nome_completo sobrenome voornaam achternaam fornavn etternavn".split(
      " ",
    ),
    ..."fornamn efternamn etunimi sukunimi imie nazwisko jmeno prijmeni".split(" "),
  ],
  picture: [
    ..."avatar gravatar headshot selfie profile_image profile_photo profile_pic profile_picture".split(" "),
    ..."user_image user_photo user_picture author_image author_photo author_picture".split(" "),
  ],
  life: [
    ..."bio biography birth* date_of_birth dob geburt* naissance nacimiento nascita nascimento".split(" "),
  ],
  "identity and accounts": [
    ..."iban ssn social_security* passport tax_id tax_number tax_no national_id national_insurance*".split(
      " ",
    ),
    ..."identity_card id_card driver_license drivers_license driving_licence license_plate".split(" "),
    ..."credit_card card_number bank_account account_number personnummer steuer_id steuernummer".split(" "),
    ..."nif dni cpf curp".split(" "),
  ],
  address: [
    ..."ip_address ip_addr client_ip remote_ip user_ip mac_address street_address home_address".split(" "),
    ..."postal_address mailing_address billing_address shipping_address anschrift hausnummer".split(" "),
  ],
} as const;

/** Only at the end of a name, or before words that say which or in what form: `photo_url`, not `photo_count`. */
export const PERSONAL_ENDINGS = {
  words: (
    "mail mobile cell handy login signature photo picture portrait street strasse address adresse direccion " +
    "indirizzo endereco calle ip"
  ).split(" "),
  before: (
    "url uri link href src path file image thumb thumbnail number nr no num text value raw full small medium large " +
    "big original square private work home office business primary secondary alt line"
  ).split(" "),
} as const;

/** `reviewer_name`, `contact_name`: whatever has a name is taken for a person unless it is one of these things. */
export const NAMED_THINGS: readonly string[] = (
  "app application brand bucket campaign category channel city class collection column company country database " +
  "department domain event field file folder font form format group host icon image instance key label " +
  "language list locale model node organization page place plan platform playlist product project property queue " +
  "region role segment server service site source space stage table tag task team template tenant theme timezone " +
  "topic type variable venue workflow zone"
).split(" ");

/**
 * Names of people, at the end of a name and before what {@link PERSON_SUFFIXES} says. A text there, alone or in lists,
 * is a person's name; an object describes one.
 */
export const PERSONS: readonly string[] = (
  "ansprechpartner approver assignee attendee author bearbeiter collaborator commenter contact contributor creator customer editor employee " +
  "guest manager member moderator organiser organizer owner participant people person photographer presenter " +
  "recipient requester reviewer sender speaker staff student subscriber teacher translator uploader user writer"
).split(" ");

/** `reviewer_id: { "name": ... }`. What is a text there is an ID, where the name says so. */
const PERSON_SUFFIXES = ["id", "details", "detail", "info", "profile", "data", "list"];

/** `approved_by` names a person, unless its first word is one of these. */
export const NO_PERSONS_BY: readonly string[] = (
  "divided driven filter filtered followed group grouped multiplied order ordered powered replaced separated sort " +
  "sorted stand superseded"
).split(" ");

/** What is personal in the description of a person, besides all that is personal anywhere. */
export const OF_PERSON: readonly string[] =
  "name names label text value first last middle given family full nick handle initials slug about".split(
    " ",
  );

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
const THINGS = new Set(NAMED_THINGS);
const PERSON = new RegExp(`(?:^|_)(?:${anyOf(PERSONS)})s?(?:_(?:${anyOf(PERSON_SUFFIXES)})s?)?$`);
const BY = new RegExp(
  `^(?!(?:${anyOf(NO_PERSONS_BY)})_)(?:.*_)?[a-z0-9]+_by(?:_(?:${anyOf(PERSON_SUFFIXES)})s?)?$`,
);
const IDS = /_ids?$/;
const E_MAIL = new RegExp(`${anyOf(PERSONAL_WORDS["e-mail"].map(patternOf))}|(?:^|_)mail$`);
const ONE_OF_PERSON = new Set(OF_PERSON);

/** What the name of a field that the contract does not know says of its value. */
interface NameMeaning {
  readonly personal: boolean;
  /** An address, beside which a name is a person's. */
  readonly email: boolean;
  /** Whether people stand here: `described`, as objects; `named`, where it is a text too. */
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

/** Whether a text in a field of this name is taken for personal. */
export function looksPersonal(name: string): boolean {
  const { personal, person } = meaningOfName(name);
  return personal || person === "named";
}

/** The same few names stand in every document. About 1 MB. */
const KNOWN_NAMES = 10_000;
const known = new Map<string, NameMeaning>();

export function meaningOfName(name: string): NameMeaning {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (known.size === KNOWN_NAMES) known.clear();
  const meaning = meaningOf(name);
  known.set(name, meaning);
  return meaning;
}

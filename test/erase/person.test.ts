import assert from "node:assert/strict";
import { test } from "node:test";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { fullItem } from "../../src/api/full.ts";
import { userPlaces } from "../../src/api/user-places.ts";
import { Person } from "../../src/erase/person.ts";

const ID = "5f1e0c2ab4d3e90017c0ffe1";
const thing = { id: ID, name: "Name", contact_email: "mail@example.com" };

/** What is left of an item with the same object in a place of users and in another. */
function left(person: Person, item: object): unknown {
  const cell = person.fromCell(JSON.stringify(item));
  return cell === undefined ? item : JSON.parse(cell ?? "null");
}

test("an object with the ID is the person's in any place once the ID is known as a user's", () => {
  const item = { campaign_details: [thing] };
  const nobody = { user: false, otherTable: undefined };
  assert.deepEqual(left(new Person(ID, nobody), item), item);
  const user = { user: true, otherTable: undefined };
  assert.deepEqual(left(new Person(ID, user), item), { campaign_details: [{ id: ID }] });
  const learned = new Person(ID, nobody);
  assert.deepEqual(left(learned, { author_details: thing }), { author_details: { id: ID } });
  assert.deepEqual(left(learned, item), { campaign_details: [{ id: ID }] });
});

test("where another thing has the same ID, only places of users are the person's", () => {
  const person = new Person(ID, { user: true, otherTable: "campaigns" });
  const item = { author_details: { ...thing, name: "Anna Name" }, campaign_details: [thing] };
  assert.deepEqual(left(person, item), { author_details: { id: ID }, campaign_details: [thing] });
});

test("an object in the place of any user's ID is a place of users, in lists too", () => {
  for (const { path } of [...userPlaces(dynamicItem), ...userPlaces(fullItem)]) {
    for (const [sent, kept] of [
      [thing, { id: ID }],
      [[thing], [{ id: ID }]],
    ]) {
      const person = new Person(ID, { user: true, otherTable: "campaigns" });
      assert.deepEqual(left(person, itemWith(path, sent)), itemWith(path, kept), path.join("."));
    }
  }
});

/** An item that has a value in a place of the contract. */
function itemWith([step, ...rest]: readonly string[], value: unknown): object {
  const inner = rest.length === 0 ? value : itemWith(rest, value);
  return step === "[]" ? [inner] : { [step === "{}" ? "cf-1" : (step ?? "")]: inner };
}

test("within a description of another person, an object with the ID is not one of the person by its place", () => {
  const item = { owner_details: { id: "other", team: thing } };
  assert.deepEqual(left(new Person(ID, { user: false, otherTable: undefined }), item), item);
});

import type { PressWords } from "../vocabulary.ts";

export const productLeads: readonly string[] = [
  "The {product} is made to be used hard, carried far and mended often.",
  "We have made the {product} since {n} people in our workshop wanted one for themselves.",
  "Light enough for a week, strong enough for a decade: the {product}.",
  "The {product} does one thing well, and it goes on doing it.",
  "Tested for {n} months around {place}, and changed after every one of them: the {product}.",
];

export const press: readonly PressWords[] = [
  {
    title: "Tarnbrook presents the {product}",
    lead: "Tarnbrook Outdoor today presents the {product}, developed over {n} seasons with mountain leaders and repairers. It will be available from specialist dealers from the first week of next month.",
    quote: "We did not ask what else it could do. We asked what could be left out.",
  },
  {
    title: "Jury prize for the {product}",
    lead: "The {product} has received this year's jury prize for design that can be repaired. The jury praised the screwed fittings, the printed parts list and the spare parts guarantee of ten years.",
    quote: "A prize for a part that can be replaced is the kind that we like.",
  },
  {
    title: "Tarnbrook takes the {product} back for reuse",
    lead: "From this {season}, customers can return a worn {product} to any dealer. What can be mended is mended and sold again; the rest is taken apart for spare parts.",
    quote: "The second owner is our toughest tester.",
  },
  {
    title: "Repair days come to {place}",
    lead: "The Tarnbrook repair van visits {place} for three days this {season}. Two tailors and a cobbler mend clothing, tents and boots of any brand, free of charge.",
    quote: "People arrive with a broken zip and leave with a plan for the weekend.",
  },
  {
    title: "Tarnbrook publishes its {year} repair report",
    lead: "Tarnbrook Outdoor has published what its customers sent in for repair in the past year: how much, for what reason and how long it took. Zips remain the most frequent cause, followed by seams.",
    quote: "We print the figures that we like less in the same size.",
  },
  {
    title: "Tarnbrook and mountain rescue {place} extend their partnership",
    lead: "For three more years Tarnbrook Outdoor equips the volunteers of the mountain rescue team in {place} and pays for a training week each {season}.",
    quote: "They tell us what fails at three in the morning. No laboratory can do that.",
  },
  {
    title: "Tarnbrook opens a test centre in {place}",
    lead: "Tarnbrook Outdoor opens a small test centre in {place}, with a rain room, a cold room and a long corridor for dogs. Dealers and schools can book visits from the coming {season}.",
    quote: "It rains on purpose in there, which makes a change.",
  },
];

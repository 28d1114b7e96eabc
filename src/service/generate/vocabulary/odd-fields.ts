import type { FieldWords } from "../vocabulary.ts";

/** Definitions that no team would admit to, and every old instance has. */
export const oddFields: readonly FieldWords[] = [
  {
    key: "region_case",
    name: "Region",
    label: "Region (print)",
    type: "text",
    share: 0.05,
    types: ["brochure"],
  },
  {
    key: "title_column",
    name: "title",
    label: "Title (print)",
    type: "text",
    share: 0.05,
    types: ["brochure"],
  },
  {
    name: 'Größe 📐 "quoted"; --',
    label: "Größe 📐 <b>& Farbe</b>",
    type: "multiselect",
    share: 0.1,
    types: ["photo"],
    values: ["Größe L", "Blå", "赤", "أحمر", "it's; DROP TABLE content; --"],
    mappings: [
      {
        to: "Web CMS",
        as: 'größe.📐 "x"',
        values: { "Größe L": "größe-l", Blå: "blå", 赤: "赤", أحمر: "أحمر" },
      },
    ],
  },
  {
    name: "pack_size",
    label: "Pack Size",
    type: "select",
    share: 0.1,
    types: ["product_page"],
    values: [
      { display: "Small", value: "S" },
      { display: "S", value: "Special" },
      { display: "Large", value: "L" },
      { display: "Large", value: "L-2" },
    ],
    mappings: [{ to: "Partner Portal", as: "Size", values: { Small: "10", S: "99", Large: "30" } }],
  },
  {
    name: "no_values",
    label: "Without Values",
    type: "select",
    share: 0,
    types: ["planning_card"],
    values: [],
    mappings: [{ to: "Web CMS", as: "nothing", values: {} }],
  },
  {
    name: "print_ready",
    label: "Print Ready",
    type: "checkbox",
    share: 0.1,
    types: ["asset_file"],
    mappings: [{ to: "Print Archive", as: "READY" }],
  },
  {
    name: "paper",
    label: "Paper",
    type: "multiselect",
    share: 0.08,
    types: ["brochure"],
    values: ["Matt", "Gloss", "None"],
    mappings: [
      { to: "Print Archive", as: "PAPER", values: { Matt: ["M1", "M2"], Gloss: "G1", None: "" } },
      { to: "Partner Portal", as: "Range", values: { Matt: "Paper", Gloss: "Paper" } },
    ],
  },
  {
    name: "never_used",
    label: "Never Used",
    type: "date",
    share: 0,
    types: ["asset_file"],
    mappings: [{ to: "Web CMS", as: "never" }],
  },
];

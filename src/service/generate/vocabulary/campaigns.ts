import type { CampaignWords } from "../vocabulary.ts";

export const campaigns: readonly CampaignWords[] = [
  { name: "Autumn Layers 2024", from: "2024-08-26", to: "2024-11-30", topics: ["insulation", "shells"] },
  { name: "Winter Nights 2024", from: "2024-11-01", to: "2025-02-15", topics: ["sleep", "insulation"] },
  { name: "Ridgeline Tent Launch", from: "2025-02-03", to: "2025-05-31", topics: ["shelter"] },
  {
    name: "Spring on the Trail 2025",
    from: "2025-03-01",
    to: "2025-06-15",
    topics: ["footwear", "running", "packs"],
  },
  { name: "Carry Less", from: "2025-04-14", to: "2025-09-30", topics: ["packs", "cooking"] },
  { name: "Mend It First", from: "2025-01-20", to: null, topics: ["repair"] },
  { name: "Family Camp Summer", from: "2025-06-01", to: "2025-08-31", topics: ["shelter", "cooking"] },
  { name: "Dealer Days 2025", from: "2025-09-01", to: "2025-10-31", topics: ["dealers"] },
  { name: "Stormproof", from: "2025-09-15", to: "2026-01-31", topics: ["shells"] },
  { name: "Hut to Hut", from: "2025-05-01", to: "2026-09-30", topics: ["routes"] },
  { name: "Winter Safety Month", from: "2025-12-01", to: "2026-01-15", topics: ["safety"] },
  { name: "Rock Season 2026", from: "2026-03-15", to: "2026-07-31", topics: ["climbing"] },
  { name: "Fleet Foot Launch", from: "2026-02-16", to: "2026-06-30", topics: ["running", "footwear"] },
  { name: "Summer of Huts 2026", from: "2026-05-01", to: "2026-09-15", topics: ["routes", "sleep"] },
  {
    name: "Back to the Hills 2026",
    from: "2026-08-17",
    to: "2026-11-15",
    topics: ["shells", "footwear", "packs"],
  },
  { name: "Dealer Days 2026", from: "2026-09-01", to: "2026-10-31", topics: ["dealers"] },
  { name: "People of Tarnbrook", from: "2024-09-01", to: null, topics: ["people"] },
  { name: "Search Refresh", from: "2025-02-01", to: null, topics: [] },
  { name: "Winter Nights 2026", from: "2026-10-15", to: "2027-02-28", topics: ["sleep", "insulation"] },
  { name: "Spring Catalogue 2027", from: "2026-10-01", to: "2027-03-31", topics: [] },
];

import type { DestinationWords, Place } from "../vocabulary.ts";

export const instance = { name: "Tarnbrook Outdoor", subdomain: "tarnbrook" };

export const personas = [
  "Weekend Walker",
  "Thru-hiker",
  "Alpine Climber",
  "Young Family",
  "Trail Runner",
  "Shop Buyer",
];
export const stages = ["Awareness", "Consideration", "Decision", "Ownership"];
export const collections = [
  "Dealer Toolkit",
  "Press Room",
  "Spring Launch Kit",
  "Repair & Care",
  "Sales Playbook",
];

export const destinations: readonly DestinationWords[] = [
  { name: "Web CMS", platform: "External", mappings: true },
  { name: "Partner Portal", platform: "External", mappings: true },
  { name: "Print Archive", platform: "Archive", mappings: false },
];

export const places: readonly Place[] = [
  { name: "Keswick", latitude: 54.6013, longitude: -3.1347, tz: "Europe/London", region: "UK & Ireland" },
  {
    name: "Fort William",
    latitude: 56.8198,
    longitude: -5.1052,
    tz: "Europe/London",
    region: "UK & Ireland",
  },
  { name: "Chamonix", latitude: 45.9237, longitude: 6.8694, tz: "Europe/Paris", region: "France & Benelux" },
  { name: "Innsbruck", latitude: 47.2692, longitude: 11.4041, tz: "Europe/Vienna", region: "DACH" },
  { name: "Garmisch", latitude: 47.4917, longitude: 11.0955, tz: "Europe/Berlin", region: "DACH" },
  { name: "Åre", latitude: 63.3991, longitude: 13.0815, tz: "Europe/Stockholm", region: "Nordics" },
  { name: "Lofoten", latitude: 68.2085, longitude: 13.6123, tz: "Europe/Oslo", region: "Nordics" },
  { name: "Boulder", latitude: 40.015, longitude: -105.2705, tz: "America/Denver", region: "North America" },
  {
    name: "Squamish",
    latitude: 49.7016,
    longitude: -123.1558,
    tz: "America/Vancouver",
    region: "North America",
  },
  { name: "Zermatt", latitude: 46.0207, longitude: 7.7491, tz: "Europe/Zurich", region: "DACH" },
  {
    name: "Picos de Europa",
    latitude: 43.1986,
    longitude: -4.8519,
    tz: "Europe/Madrid",
    region: "Southern Europe",
  },
  { name: "Kamikōchi", latitude: 36.2492, longitude: 137.638, tz: "Asia/Tokyo", region: "Asia Pacific" },
];

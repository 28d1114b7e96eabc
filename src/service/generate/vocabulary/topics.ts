import type { Topic } from "../vocabulary.ts";

export const topics: readonly Topic[] = [
  {
    name: "shelter",
    weight: 10,
    category: "Tents & Shelter",
    tags: ["tents", "camping", "setup", "wind", "ultralight"],
    products: ["Ridgeline 2", "Ridgeline 3", "Cairn Solo", "Tarn Tarp", "Basecamp 5"],
    angles: ["pitching in the wind", "keeping condensation down", "choosing a campsite", "tents for two"],
    titles: [
      "How to pitch the {product} in a strong wind",
      "{product} or {product2}: which tent for {place}?",
      "Five mistakes we made with {angle}",
      "A calm guide to {angle}",
    ],
    open: [
      "The {product} goes up in under four minutes, and it stays up when the weather changes its mind.",
      "A tent is only as good as the ground you choose for it.",
    ],
    detail: [
      "Face the low end into the wind and peg the two windward corners before you touch a pole.",
      "Leave a hand's width of space under the flysheet so that damp air can leave.",
      "We tested it for nine nights near {place} in {season}.",
    ],
    close: [
      "Pack it dry when you can, and dry it at home when you cannot.",
      "The flysheet carries a repair patch in the bag, because everything tears once.",
    ],
    prefers: {
      product_line: ["Shelter"],
      activity: ["Camping", "Backpacking"],
      audience: ["Backpackers", "Families", "Winter Campers"],
    },
  },
  {
    name: "footwear",
    weight: 10,
    category: "Footwear",
    tags: ["boots", "fit", "blisters", "hiking"],
    products: ["Fellrunner Mid", "Moor Low", "Glacier GTX", "Scree Approach"],
    angles: ["breaking in new boots", "lacing for the descent", "finding your size", "looking after leather"],
    titles: [
      "{product}: the boot we wore out on purpose",
      "Getting {angle} right",
      "Which Tarnbrook boot fits your foot?",
      "{place} in {season}: what we wore on our feet",
    ],
    open: [
      "Most blisters begin in the shop, an hour before closing time.",
      "The {product} has a new last, a little wider where your toes need it.",
    ],
    detail: [
      "Try boots in the afternoon, in the socks you walk in.",
      "Your heel should not lift when you stand on a slope.",
      "The sole is stitched, so a cobbler can replace it.",
    ],
    close: [
      "Bring your old pair to any dealer and they will read the wear with you.",
      "Brush them, let them dry away from the heater, and wax the seams.",
    ],
    prefers: {
      product_line: ["Footwear"],
      activity: ["Hiking", "Backpacking"],
      audience: ["Day Hikers", "Backpackers"],
    },
  },
];

import type { Topic } from "../vocabulary.ts";

export const dealers: Topic = {
  name: "dealers",
  weight: 6,
  category: "Trade",
  tags: ["dealers", "trade", "training", "merchandising", "availability"],
  products: [],
  open: [
    "Our dealers sell more boots than our website does, and we would like to keep it so.",
    "Thank you for a strong {season}.",
  ],
  subjects: [
    {
      angle: "boot fitting in the shop",
      open: [
        "Fitting takes twenty minutes, and it halves the returns.",
        "Nobody can try a boot on through a screen. That is your advantage.",
      ],
      heading: "Twenty minutes well spent",
      titles: [
        "Dealer training: boot fitting in twenty minutes",
        "Boot fitting in the shop: what the best {n} dealers do",
        "Fewer returns through better fitting",
      ],
      sentences: [
        "Measure both feet, standing, every time.",
        "Let the customer walk down the ramp before you talk about price.",
        "Offer the half size up without being asked.",
        "Write the last number on the receipt, for the next pair.",
        "Shops that do this see half as many boots come back.",
        "The training film is in the Dealer Toolkit.",
      ],
    },
    {
      angle: "availability and ordering",
      open: [
        "This is what your shop needs to know this month.",
        "Here is what ships, when, and what to do about the rest.",
      ],
      heading: "What ships when",
      titles: [
        "Availability for {season}: what ships when",
        "Order deadlines for {season} {year}",
        "Back in stock: sizes and dates",
      ],
      sentences: [
        "Core colours ship from the first week of the month.",
        "The larger tents follow two weeks later, because we would not lower the fabric test.",
        "Orders placed by the fifteenth leave the warehouse in the same month.",
        "Half sizes of the leather boots are limited: please order by need.",
        "Exchange within the range is free until the end of the season.",
        "Your contact can see the same stock figures as you do.",
      ],
    },
    {
      angle: "window displays",
      open: [
        "Three seconds is what a window gets. Ours are made for that.",
        "A good window sells before the door opens.",
      ],
      heading: "Three props, one story",
      titles: [
        "Window kit {season} {year}: three props, one story",
        "Window displays that sell repairs",
        "How a shop in {place} built its window",
      ],
      sentences: [
        "Choose one story and leave out everything that belongs to another.",
        "The kit has three props, two banners and a plan on one page.",
        "Light from the side makes fabrics look as they feel.",
        "Show one mended jacket: people stop for it.",
        "Change the window every six weeks, even if you like it.",
        "Send us a photo, and the best one wins a day with our photographer.",
      ],
    },
  ],
  close: [
    "Questions? Your area manager has the answers, or knows who has.",
    "All files are in the Partner Portal.",
    "See you at the Dealer Days.",
  ],
  prefers: {
    activity: ["Hiking"],
    audience: ["Retail Partners"],
    owner_team: ["Trade Marketing"],
    funnel_stage: ["Buy"],
    product_line: ["Footwear", "Shelter", "Packs"],
  },
};

export const people: Topic = {
  name: "people",
  weight: 5,
  category: "Tarnbrook",
  tags: ["team", "jobs", "culture", "interview", "behind the scenes"],
  products: [],
  open: [
    "People ask what it is like here. Mostly it is damp.",
    "We make things for outside, and some of us are outside rather often.",
  ],
  subjects: [
    {
      angle: "a day in the workshop",
      open: [
        "We asked a colleague in the workshop to show us an ordinary Tuesday.",
        "The workshop is the loudest room in the house, and the most cheerful.",
      ],
      heading: "Needles, coffee, radio",
      titles: [
        "A day in the workshop",
        "{person} on machines older than the company",
        "Needles, coffee, radio: a day with our menders",
      ],
      sentences: [
        "The first parcels are opened at seven, with gloves, for good reasons.",
        "Each job gets a tag, a tray and a name.",
        "The oldest machine is from 1962 and has never been late.",
        "At ten there is coffee and the parcel of the week.",
        "New fabrics are tried here before they are shown to anybody else.",
        "By four the vans are loaded, and the radio is louder than the machines.",
      ],
    },
    {
      angle: "working at Tarnbrook",
      open: [
        "Tarnbrook is about two hundred people and some forty dogs.",
        "The office is quiet on powder days, and the figures do not suffer.",
      ],
      heading: "How we work",
      titles: [
        "Working at Tarnbrook: what we offer and what we ask",
        "We are hiring in {place}",
        "How we work: four days, one hill",
      ],
      sentences: [
        "Four days in the office or the workshop, and one wherever you think best.",
        "Everybody spends a week a year in a shop.",
        "We pay the train, not the car.",
        "You can borrow anything we make, as long as you tell us what you did not like.",
        "Decisions are written down, in plain words, with the reasons.",
        "Apply with a page about something you have mended.",
      ],
    },
    {
      angle: "testing in the field",
      open: ["Good gear comes from people who get rained on.", "Before anything gets a price, it gets wet."],
      heading: "The field team",
      titles: [
        "Meet the field team: {n} people who break things",
        "{person} on testing in the field",
        "Testing near {place}: notes from a wet week",
      ],
      sentences: [
        "Testers get prototypes without labels and a form with one question: would you take it again?",
        "A jacket spends about sixty days outside before it is allowed a colour.",
        "What fails is pinned to the wall by the canteen.",
        "Two testers must agree before a change is made.",
        "The best comments are rude and precise.",
        "The testers' dogs test the sleeping mats, unasked.",
      ],
    },
  ],
  close: [
    "Open positions are listed on the careers page.",
    "Come by: the kettle is on.",
    "Next month: the people who answer the telephone.",
  ],
  prefers: {
    activity: ["Hiking", "Climbing"],
    audience: ["Press", "Day Hikers"],
    owner_team: ["People & Culture"],
    funnel_stage: ["Discover"],
    product_line: ["Care & Repair"],
  },
};

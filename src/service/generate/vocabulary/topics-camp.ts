import type { Topic } from "../vocabulary.ts";

export const shelter: Topic = {
  name: "shelter",
  weight: 10,
  category: "Tents & Shelter",
  tags: ["tents", "camping", "pitching", "weather", "two-person"],
  products: ["Ridgeline 2", "Ridgeline 3", "Cairn Solo", "Tarn Tarp", "Longhouse 5"],
  open: [
    "Nobody remembers the nights when the tent simply worked. That is the point of a good one.",
    "We spent {n} nights near {place} in {season}, in the {product}, taking notes by torchlight.",
  ],
  subjects: [
    {
      angle: "pitching in the wind",
      products: ["Ridgeline 2", "Ridgeline 3", "Cairn Solo", "Tarn Tarp"],
      open: [
        "We once chased a flysheet across half a valley. It does not have to be like that.",
        "Wind is the one thing at camp that you cannot argue with.",
      ],
      heading: "When the wind is up",
      titles: [
        "How to pitch the {product} in a strong wind",
        "Pitching in the wind, one peg at a time",
        "What a windy night near {place} taught us about pegs",
      ],
      sentences: [
        "Look for a dip or a wall before you look for a view.",
        "Face the low end into the wind and peg its two corners before you touch a pole.",
        "Keep one hand on the fabric at all times: a loose flysheet is a kite.",
        "Set every guy line, even the ones that look like decoration, and angle the pegs away from the tent.",
        "Check the tension again after a quarter of an hour, because wet fabric stretches.",
        "If the poles start to flatten, add a line to windward rather than tightening the ones you have.",
      ],
    },
    {
      angle: "keeping condensation down",
      products: ["Ridgeline 2", "Ridgeline 3", "Cairn Solo"],
      open: [
        "A wet wall at six in the morning is rarely a leak.",
        "Every tent gets damp inside; the question is how damp.",
      ],
      heading: "Less damp by morning",
      titles: [
        "Why your tent is wet inside, and what to do about it",
        "Condensation: {n} habits for a drier morning",
        "A dry morning in the {product}",
      ],
      sentences: [
        "Two people breathe out about a litre of water in a night, and it has to go somewhere.",
        "Open the high vents first, then leave a hand's width of space under the flysheet.",
        "Camp a little above the water: cold, damp air collects in the valley floor.",
        "Cook outside, or at least with both doors open.",
        "Wipe the inner side of the flysheet before you pack, not after.",
        "A sleeping bag that smells of tent has been telling you something for a week.",
      ],
    },
    {
      angle: "choosing a tent for two",
      products: ["Ridgeline 2", "Ridgeline 3"],
      open: [
        "Two people, two mats, two opinions: a tent has to settle them all.",
        "The right tent for two is the one in which both of you still talk on day four.",
      ],
      heading: "Room for two",
      titles: [
        "{product} or {product2}: which one for {place}?",
        "How much space do two people need?",
        "Choosing a tent for two without an argument",
      ],
      sentences: [
        "Lie down in it, both of you, with the packs where they would be on a wet night.",
        "Width at the shoulders matters more than the number on the bag.",
        "Two doors cost about two hundred grams and save a friendship.",
        "If you carry it on your back, count the weight per person and per night.",
        "If you cook in the porch, you need a porch that is higher than your stove.",
        "The Ridgeline 2 is the lighter of ours; the Ridgeline 3 forgives more mistakes.",
      ],
    },
    {
      angle: "camping with children",
      products: ["Longhouse 5", "Ridgeline 3"],
      open: [
        "Children do not care about grams. They care about torches, puddles and breakfast.",
        "The first night out decides whether there will be a second.",
      ],
      heading: "Small campers",
      titles: [
        "The first night out with children",
        "Camping with children near {place}",
        "A family checklist for the {product}",
      ],
      sentences: [
        "Put the tent up in the garden first and let them sleep in it, even if they come in at midnight.",
        "Give each child a torch of their own and spare batteries for you.",
        "Arrive before dinner: hungry people pitch badly.",
        "Pack one warm layer more than you think, and one toy less.",
        "Choose a site with water to look at and a toilet that you can find in the dark.",
        "Leave while everybody is still enjoying it.",
      ],
    },
  ],
  close: [
    "Pack it dry when you can, and dry it at home when you cannot.",
    "There is a repair patch sewn into the bag, because everything tears once.",
    "Your dealer can put one up for you in the shop: ask.",
    "If in doubt, move the tent. It is never as much work as it looks.",
    "Spare poles and pegs are in stock for ten years after we stop making a tent.",
  ],
  prefers: {
    product_line: ["Shelter"],
    activity: ["Camping", "Backpacking", "Bikepacking"],
    audience: ["Backpackers", "Families", "Winter Campers", "Festival Campers"],
    claims: ["PFAS-free repellency", "Repairable by design"],
  },
};

export const sleep: Topic = {
  name: "sleep",
  weight: 8,
  category: "Sleeping",
  tags: ["sleeping bags", "mats", "down", "winter camping", "overnight"],
  products: ["Moss 400", "Moss 700", "Hoarfrost Mat", "Hoarfrost Mat Long", "Drift Quilt"],
  open: [
    "A bad night costs more than a heavy pack.",
    "Sleep is a skill, and most of it can be learned at home.",
  ],
  subjects: [
    {
      angle: "reading temperature ratings",
      products: ["Moss 400", "Moss 700", "Drift Quilt"],
      open: [
        "Every autumn we get the same question: will this bag be warm enough?",
        "Three numbers on a label, and most people look at the wrong one.",
      ],
      heading: "What the numbers mean",
      titles: [
        "Comfort, limit, extreme: how to read a sleeping bag label",
        "Is the {product} warm enough for {place}?",
        "The three numbers on your sleeping bag",
      ],
      sentences: [
        "The comfort figure is the one to buy by: it is where most people sleep through.",
        "The limit is for somebody curled up, fit and fed.",
        "Ignore the extreme figure; it is about surviving, not about sleeping.",
        "All three are measured on a good mat, and half of your warmth is lost downwards.",
        "If you sleep cold, add five degrees, and no one will laugh.",
        "A liner adds a little warmth and saves a lot of washing.",
      ],
    },
    {
      angle: "choosing a sleeping mat",
      products: ["Hoarfrost Mat", "Hoarfrost Mat Long"],
      open: [
        "Most cold nights come from below.",
        "People spend weeks choosing a bag and ten minutes choosing a mat. We would do it the other way round.",
      ],
      heading: "The mat does half the work",
      titles: [
        "Your mat matters more than your bag",
        "{product}: {n} nights on frozen ground",
        "How to choose a sleeping mat for {season}",
      ],
      sentences: [
        "Look at the R-value first: two is for summer, five is for snow.",
        "Foam never goes flat, and it doubles as a seat.",
        "Side sleepers need thickness; back sleepers need width.",
        "Blow it up with the bag it comes in, because breath is damp and damp freezes.",
        "Take two patches and use the first in a bath at home, to learn how.",
        "In winter, put a thin foam mat under an inflatable one and stop worrying.",
      ],
    },
    {
      angle: "washing a down bag",
      products: ["Moss 400", "Moss 700", "Drift Quilt"],
      open: [
        "A down bag that has gone flat is usually dirty, not worn out.",
        "Washing down takes a whole day and almost no skill.",
      ],
      heading: "A day for washing",
      titles: [
        "How to wash a down sleeping bag at home",
        "Washing down: patience, tennis balls, patience",
        "Give your {product} its loft back",
      ],
      sentences: [
        "Wash it once a year at the most, in a front loader, with soap made for down.",
        "Rinse until the water runs clear, then rinse again.",
        "Lift it with both arms from below: wet down is heavy and tears the walls inside.",
        "Tumble it on low heat with three clean tennis balls, for longer than seems reasonable.",
        "It is dry when no lump is left, not when the outside feels dry.",
        "Store it loose in the cotton sack, never in the stuff sack.",
      ],
    },
    {
      angle: "sleeping out in winter",
      products: ["Moss 700", "Hoarfrost Mat"],
      open: [
        "Warm nights are made before you get into the bag.",
        "Winter camping is quiet, starry and a matter of routine.",
      ],
      heading: "Below freezing",
      titles: [
        "Sleeping out below freezing: what we do differently",
        "A winter night near {place}",
        "{n} small things that keep you warm in {season}",
      ],
      sentences: [
        "Eat something fatty and walk a lap around the camp before you lie down.",
        "Put tomorrow's socks, the water filter and the phone into the bag with you.",
        "Fill a bottle with hot water and place it at your thighs, not at your feet.",
        "Keep your mouth outside the bag, or the down will be wet by morning.",
        "If you need to get up, get up: a full bladder is cold ballast.",
        "Dry the bag in the sun at lunch, even if it means a longer break.",
      ],
    },
  ],
  close: [
    "Sleep well.",
    "If you are unsure, borrow one of ours for a weekend at any demo day.",
    "Nothing here is expensive, and all of it works.",
    "We mend burst baffles for the life of the bag.",
    "The next cold night is the best teacher; take notes.",
  ],
  prefers: {
    product_line: ["Sleep"],
    activity: ["Camping", "Backpacking", "Ski Touring"],
    audience: ["Backpackers", "Winter Campers", "Families"],
    claims: ["Responsible down", "Recycled face fabric"],
  },
};

export const cooking: Topic = {
  name: "cooking",
  weight: 7,
  category: "Cook & Hydrate",
  tags: ["cooking", "stoves", "water", "food", "recipes"],
  products: ["Ember Stove", "Ember Duo", "Spring Filter", "Kettle Pot 1.2"],
  open: [
    "We cooked {n} dinners near {place} so that you can burn fewer.",
    "Food and water are the heaviest things in your pack, so make them count.",
  ],
  subjects: [
    {
      angle: "saving fuel",
      products: ["Ember Stove", "Ember Duo"],
      open: [
        "Half of what you burn heats the valley.",
        "A canister goes further than the label says, if you help it.",
      ],
      heading: "More meals from one canister",
      titles: [
        "How to get more meals out of one canister",
        "Saving fuel with the {product}",
        "A canister lasts {n} days if you let it",
      ],
      sentences: [
        "Use a lid, always: it is the cheapest upgrade there is.",
        "Half a turn of the valve boils water almost as fast and burns a third less gas.",
        "Start with the warmest water you have, for instance the bottle from under your jacket.",
        "Soak pasta and lentils in the pot while you pitch the tent.",
        "Shield the flame from the wind, but never wrap the canister.",
        "Weigh your canister before the trip and write the number on it.",
      ],
    },
    {
      angle: "one-pot dinners",
      products: ["Kettle Pot 1.2", "Ember Duo"],
      open: ["A warm meal turns a wet evening into a story.", "Good camp cooking is mostly good shopping."],
      heading: "One pot, one spoon",
      titles: [
        "Three one-pot dinners for {season}",
        "One-pot dinners from a village shop near {place}",
        "What we cook in the {product}",
      ],
      sentences: [
        "Couscous needs no simmering: pour, cover, wait five minutes, eat.",
        "Red lentils, a stock cube and a spoonful of peanut butter make a better stew than they should.",
        "Fry the spices in oil before the water goes in.",
        "Carry a small lemon; it rescues almost everything.",
        "Hard cheese keeps for a week in a paper bag, and a rind belongs in the soup.",
        "Eat from the pot, wipe it with bread, and the washing-up is done.",
      ],
    },
    {
      angle: "safe drinking water",
      products: ["Spring Filter"],
      open: [
        "Clear water is not the same as clean water.",
        "A stomach upset is the most common way to end a good trip.",
      ],
      heading: "Water you can trust",
      titles: [
        "Filter, boil or treat? Safe water on the trail",
        "How to look after the {product}",
        "Safe drinking water near {place}",
      ],
      sentences: [
        "Take water from where it moves, above the path and above the sheep.",
        "A hollow-fibre filter stops bacteria, but not a freezing night: keep it in your pocket.",
        "Boiling is certain and slow; a rolling boil for a minute is enough below two thousand metres.",
        "Tablets weigh nothing, so carry two as a reserve.",
        "Backflush the filter every evening rather than when it is too late.",
        "Mark the dirty bottle so that you can tell it by touch in the dark.",
      ],
    },
  ],
  close: [
    "Take your rubbish home, and a little of somebody else's.",
    "Tell us what is in your pot: we publish the best ones.",
    "Spare seals and jets are three clicks away.",
    "And bring a second spoon. Somebody always forgets.",
  ],
  prefers: {
    product_line: ["Cook & Hydrate"],
    activity: ["Camping", "Backpacking", "Bikepacking"],
    audience: ["Backpackers", "Families"],
    claims: ["Repairable by design", "Carbon footprint declared"],
  },
};

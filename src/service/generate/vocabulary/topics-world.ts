import type { Topic } from "../vocabulary.ts";

export const repair: Topic = {
  name: "repair",
  weight: 8,
  category: "Care & Repair",
  tags: ["repair", "sustainability", "care", "workshop", "spare parts"],
  products: [],
  open: [
    "The most sustainable jacket is the one you already own.",
    "Nothing we sell should need a secret to be mended.",
  ],
  subjects: [
    {
      angle: "mending a zip",
      open: ["Zips are half of all that we mend.", "Before you write a zip off, give it five minutes."],
      heading: "It is usually the slider",
      titles: [
        "Mending a zip: it is usually the slider",
        "Your zip is not broken",
        "How our workshop saves {n} zips a day",
      ],
      sentences: [
        "If the teeth part behind the slider, the slider is worn, not the zip.",
        "Squeeze it gently with pliers, first one side and then the other.",
        "Brush the teeth with a dry toothbrush and rub them with candle wax.",
        "A new slider costs less than a coffee and needs no sewing machine.",
        "Replace the whole zip only when teeth are missing.",
        "Send us a photo, and we will tell you which size to order.",
      ],
    },
    {
      angle: "patching a tear",
      open: [
        "Branches, embers, crampons: fabric meets them all sooner or later.",
        "A small hole is a small job, as long as it is small.",
      ],
      heading: "Round corners hold",
      titles: [
        "Patching a tear on the trail",
        "Round corners: the secret of a patch that holds",
        "A repair kit the size of a matchbox",
      ],
      sentences: [
        "Clean the fabric with a drop of alcohol and let it dry.",
        "Cut the patch with round corners, a thumb's width larger than the hole.",
        "Press it down hard for a minute, and warm it with your hands.",
        "Patch both sides of a tent, one side of a jacket.",
        "It holds for years, but you may bring it in for a stitched one.",
        "Choose a patch in a colour you like: people will ask.",
      ],
    },
    {
      angle: "our repair figures",
      open: [
        "Our workshop mended {n} thousand things last year, and we counted every one.",
        "What breaks tells a designer more than what sells.",
      ],
      heading: "What we counted",
      titles: [
        "Repair report: what broke, and what we changed",
        "Our repair figures for {year}",
        "What {n} thousand repairs taught our designers",
      ],
      sentences: [
        "Zips come first, then seams, then buckles that met a car door.",
        "We moved the seam on the shoulder by two centimetres, and its repairs fell by half.",
        "The average repair takes eleven days, of which two are work.",
        "One parcel in seven was already mended when it arrived, and rather well.",
        "We publish the figures each spring, with those that we do not like.",
        "Spare parts are now listed on every product page.",
      ],
    },
    {
      angle: "repair days",
      open: [
        "A repair is quicker than an order, and it comes with a story.",
        "The van is on the road again.",
      ],
      heading: "Bring what is broken",
      titles: [
        "Repair days in {season}: bring what is broken",
        "Meet the menders in {place}",
        "What happens at a repair day",
      ],
      sentences: [
        "Two tailors, one cobbler and a box of buckles travel with the van.",
        "Anything with a zip is welcome, whatever the label says.",
        "Small repairs are done while you wait; larger ones travel home with us.",
        "It costs nothing, although the coffee tin takes donations for the mountain rescue.",
        "Please wash it first. Please.",
        "Children may sew on their own patches.",
      ],
    },
  ],
  close: [
    "Mend it first.",
    "The repair form takes two minutes.",
    "And if it is beyond help, we will take it apart and use the pieces.",
    "Write to the workshop: a person answers.",
  ],
  prefers: {
    product_line: ["Care & Repair"],
    activity: ["Hiking", "Camping"],
    audience: ["Day Hikers", "Backpackers", "Families"],
    owner_team: ["Sustainability", "Brand Editorial"],
    claims: ["Repairable by design", "Carbon footprint declared"],
    funnel_stage: ["Own"],
  },
};

export const routes: Topic = {
  name: "routes",
  weight: 8,
  category: "Routes & Places",
  tags: ["routes", "huts", "weekend", "maps", "public transport"],
  products: [],
  open: [
    "{place} is busy in August and perfect on a Tuesday in {season}.",
    "Our route writers walk every path twice, once in each direction.",
  ],
  subjects: [
    {
      angle: "a weekend walk",
      open: [
        "You can be on the hill two hours after leaving your desk.",
        "This is a walk for people who like to stop.",
      ],
      heading: "Two days, one bag",
      titles: [
        "{place} in {season}: a weekend walk",
        "Two days around {place}, by train",
        "The quiet side of {place}",
      ],
      sentences: [
        "Take the early train and begin at the station: the path starts behind the church.",
        "The first climb is the hardest, six hundred metres through beech and then larch.",
        "Have lunch at the second bridge, where the wind drops.",
        "The way down follows an old drove road, wide enough to talk side by side.",
        "There is a bakery at the end, and it knows its customers.",
        "The last bus leaves at ten past six; the one after that is a taxi.",
      ],
    },
    {
      angle: "walking from hut to hut",
      open: [
        "With a bed and a dinner waiting, a small pack is enough.",
        "Hut to hut is the slowest way to cross a range, and the best.",
      ],
      heading: "Evenings at the long table",
      titles: [
        "Hut to hut near {place}: {n} days, small pack",
        "Walking from hut to hut for the first time",
        "What to bring to a mountain hut",
      ],
      sentences: [
        "Book early for weekends, and cancel early if you do not go.",
        "You need a liner, earplugs, cash and slippers, in that order.",
        "Dinner is at half past six, and it is what it is.",
        "Ask the warden about the conditions rather than your phone.",
        "Boots stay in the boot room, and so does their smell.",
        "Carry your rubbish down: everything up there came by helicopter or on a back.",
      ],
    },
    {
      angle: "travelling by train",
      open: ["Some of the best walks have two ends.", "The nicest car park is the one you never see."],
      heading: "Leave the car",
      titles: [
        "Leave the car: {n} hills you can reach by train",
        "{place} without a car",
        "Traverses: the walks that only work by train",
      ],
      sentences: [
        "Without a car you never have to come back to where you began.",
        "Check the last connection first and plan backwards from it.",
        "A folded timetable weighs nothing and needs no battery.",
        "Regional day tickets usually cover the bus up the valley.",
        "Put the muddy boots in a bag, and the conductor will smile.",
        "Sleep on the way home: that, too, is part of it.",
      ],
    },
  ],
  close: [
    "Download the map before you lose signal.",
    "The route is graded easy to moderate; good shoes are enough.",
    "Tell us if a bridge is gone: we correct our guides within a week.",
    "Leave the gate as you found it.",
  ],
  prefers: {
    activity: ["Hiking", "Backpacking", "Travel"],
    audience: ["Day Hikers", "Backpackers", "Families"],
    owner_team: ["Brand Editorial"],
    funnel_stage: ["Discover"],
  },
};

export const safety: Topic = {
  name: "safety",
  weight: 6,
  category: "Safety & Skills",
  tags: ["safety", "navigation", "winter", "first aid", "weather"],
  products: [],
  open: [
    "We asked {n} mountain leaders near {place} for the advice they give most often.",
    "Good decisions are boring, and they are made early.",
  ],
  subjects: [
    {
      angle: "finding your way",
      open: [
        "Batteries get cold, and maps get wet. Carry both.",
        "Getting lost is seldom one mistake; it is three small ones in a row.",
      ],
      heading: "Map, compass, phone",
      titles: [
        "Finding your way when the phone is dead",
        "Map reading: {n} habits of people who do not get lost",
        "Fog near {place}: a navigation exercise",
      ],
      sentences: [
        "Keep the map in your hand and your thumb on the place where you are.",
        "Turn the map until it lies like the land.",
        "Say what you expect to see next, and begin to worry when you do not see it.",
        "Aim for something long, such as a stream or a wall, rather than for a point.",
        "Note the time at each junction.",
        "If you are unsure, go back to the last place where you were sure.",
      ],
    },
    {
      angle: "reading the weather",
      open: [
        "Turning round is a skill, and it can be practised.",
        "The sky talks all day; the forecast only in the morning.",
      ],
      heading: "Look up",
      titles: [
        "Reading the weather in {season}",
        "Look up: what clouds say before the forecast does",
        "When to turn round",
      ],
      sentences: [
        "Read two forecasts; where they differ, plan for the worse one.",
        "Thunder in the mountains keeps office hours: be down by two.",
        "Wind counts double on a ridge.",
        "A ring around the sun means rain within the day, more often than not.",
        "Set a time to turn round and say it aloud in the morning.",
        "The hill will be there next week.",
      ],
    },
    {
      angle: "first aid on the hill",
      open: [
        "Most rescues begin with a small decision before lunch.",
        "The first ten minutes matter, and they feel like one.",
      ],
      heading: "Stop, look, warm",
      titles: [
        "First aid on the hill: the first ten minutes",
        "What belongs in a first-aid kit",
        "Cold, wet and quiet: the signs of hypothermia",
      ],
      sentences: [
        "Stop, look around, and make sure that one casualty does not become two.",
        "Keep the injured person warm from below before you think about anything else.",
        "Somebody who shivers is all right; somebody who has stopped is not.",
        "Give your position in the numbers that your phone shows, and read them twice.",
        "Six signals a minute is the call for help: whistle or torch.",
        "Take a course every three years; the hands forget.",
      ],
    },
  ],
  close: [
    "Practise it where it does not matter, so that you can do it where it does.",
    "Reviewed by our mountain leaders; it does not replace a course.",
    "Come home. That is the plan.",
    "Save the emergency number of the country you are in before you set out.",
  ],
  prefers: {
    activity: ["Hiking", "Ski Touring", "Climbing"],
    audience: ["Day Hikers", "Winter Campers", "Climbers"],
    owner_team: ["Brand Editorial"],
    funnel_stage: ["Discover", "Own"],
    legal_status: ["Approved", "Approved with changes", "Requested"],
  },
};

import type { Topic } from "../vocabulary.ts";

export const packs: Topic = {
  name: "packs",
  weight: 9,
  category: "Packs & Bags",
  tags: ["backpacks", "packing", "weight", "fit", "lists"],
  products: ["Drover 45", "Drover 60", "Hawthorn 22", "Hawthorn 30"],
  open: [
    "We asked {n} hut wardens what their guests carry for nothing.",
    "A rucksack is a small house, and every house needs order.",
  ],
  subjects: [
    {
      angle: "packing a rucksack well",
      open: [
        "The same twelve kilos can feel like ten or like fifteen.",
        "A well-packed rucksack does not rattle, lean or hide things.",
      ],
      heading: "What goes where",
      titles: [
        "How to pack a rucksack so that it carries itself",
        "What goes where in the {product}",
        "Packing well in {n} minutes",
      ],
      sentences: [
        "Sleeping bag at the bottom, heavy things close to your back, light things outside.",
        "Water and food sit between the shoulder blades, not in the lid.",
        "The rain jacket goes where you can reach it without thinking.",
        "Fill the gaps with soft things, so that nothing swings.",
        "Pack the same way every day, and you will find things in the dark.",
        "Then take out one thing.",
      ],
    },
    {
      angle: "carrying less",
      open: [
        "Every gram was a good idea once.",
        "We emptied {n} packs on the workshop floor and counted what had not been used.",
      ],
      heading: "Leave it at home",
      titles: [
        "Carry less: our list for three days near {place}",
        "What we no longer carry",
        "{n} kilos, everything included: a list for {season}",
      ],
      sentences: [
        "Weigh the three big ones first: shelter, sleep and pack.",
        "Spare clothes are for stops, not for mornings.",
        "One pot for two people is enough, and so is one knife.",
        "Decant everything that comes in a bottle.",
        "A repair kit the size of a matchbox mends nine things out of ten.",
        "Take the book. You will read it.",
      ],
    },
    {
      angle: "adjusting the back system",
      open: [
        "A pack fits when you forget it for ten minutes at a time.",
        "Most sore shoulders are hip belts in disguise.",
      ],
      heading: "Hips first",
      titles: [
        "Adjust your {product} in five minutes",
        "Hips first: how to set up a back system",
        "Why your shoulders hurt",
      ],
      sentences: [
        "Load it with ten kilos; an empty pack tells you nothing.",
        "Loosen every strap, close the hip belt on the bones and tighten that first.",
        "Pull the shoulder straps until they touch, then stop pulling.",
        "The load lifters should rise at about forty-five degrees.",
        "The chest strap keeps the others in place; it carries nothing.",
        "Change the balance every hour, a little to the hips, a little to the shoulders.",
      ],
    },
  ],
  close: [
    "Every buckle can be replaced without sewing.",
    "Bring it in loaded, and we will fit it with you.",
    "The download list is below: print it, cross things out, go.",
    "Your back will write to thank you.",
  ],
  prefers: {
    product_line: ["Packs"],
    activity: ["Backpacking", "Hiking", "Travel"],
    audience: ["Backpackers", "Day Hikers"],
    claims: ["Recycled face fabric", "Repairable by design"],
  },
};

export const climbing: Topic = {
  name: "climbing",
  weight: 6,
  category: "Climbing",
  tags: ["climbing", "ropes", "harness", "crag", "alpine"],
  products: ["Plumb Harness", "Catenary 9.4", "Catenary 8.6", "Tuffet Helmet", "Chockstone Set", "Gully Axe"],
  open: [
    "Climbing gear is simple, and that is why it has to be right.",
    "We spent {season} at the crags around {place}, mostly listening.",
  ],
  subjects: [
    {
      angle: "checking your gear",
      products: ["Plumb Harness", "Tuffet Helmet", "Chockstone Set", "Gully Axe"],
      open: [
        "Before the season begins, put everything on the floor and look at it.",
        "Trust is built by checking.",
      ],
      heading: "Everything on the floor",
      titles: [
        "The {season} check: everything on the floor",
        "When to retire a harness",
        "How to check your {product} before the season",
      ],
      sentences: [
        "Run the rope through your hands, metre by metre, and feel for soft or stiff places.",
        "Look at the belay loop and the tie-in points in daylight.",
        "Open and close every gate; wash the slow ones in warm water and dry them.",
        "Read the date on the label: textiles retire after ten years, even unused ones.",
        "A helmet that took a real blow has done its work.",
        "Write down what you found, because you will not remember next year.",
      ],
    },
    {
      angle: "moving from the gym to rock",
      products: ["Plumb Harness", "Tuffet Helmet"],
      open: [
        "Plastic does not crumble, and nobody leaves chalk arrows on granite.",
        "The first day on real rock is slow, and that is how it should be.",
      ],
      heading: "Outdoors is different",
      titles: [
        "From the gym to rock: what nobody tells you",
        "Your first {season} on real rock",
        "First day at the crag near {place}",
      ],
      sentences: [
        "Grades outside feel two harder, so begin two lower.",
        "Go with somebody who has cleaned an anchor before, and watch twice.",
        "Rope drag, loose rock and a longer way to the ground ask for more words between partners.",
        "Agree on the commands at the bottom; wind eats half of them.",
        "Wear the helmet on the ground as well.",
        "Leave the chalk marks you made in your pocket: brush them off.",
      ],
    },
    {
      angle: "looking after ropes",
      products: ["Catenary 9.4", "Catenary 8.6"],
      open: [
        "A rope has one job, and it prefers to be clean.",
        "Ropes age in car boots far more than on rock.",
      ],
      heading: "A long life for a rope",
      titles: [
        "How long does a rope last?",
        "Wash, dry, flake: looking after the {product}",
        "Looking after ropes in {n} habits",
      ],
      sentences: [
        "Use a rope bag, so that sand stays out of the core.",
        "Change ends after every day of falls.",
        "Lower slowly: heat ages the sheath faster than weight.",
        "Wash it in lukewarm water with mild soap, then dry it in the shade.",
        "Keep it far from batteries, fuel and the boot of a hot car.",
        "Cut off a worn end rather than hoping, and mark the middle anew.",
      ],
    },
  ],
  close: [
    "If you are not sure, retire it. We recycle old ropes at every workshop.",
    "This text does not replace a course; your local club runs good ones.",
    "Climb well, and check your partner.",
  ],
  prefers: {
    product_line: ["Climb"],
    activity: ["Climbing", "Ski Touring"],
    audience: ["Climbers"],
    claims: ["PFAS-free repellency", "Recycled face fabric"],
  },
};

export const running: Topic = {
  name: "running",
  weight: 7,
  category: "Trail Running",
  tags: ["trail running", "training", "shoes", "vest", "race"],
  products: ["Fleet 3", "Fleet 3 Wide", "Rill Vest 8", "Rill Vest 12", "Wisp Windshell", "Tempo Short"],
  open: [
    "We went round the {place} loop with {n} runners who do not agree on anything.",
    "Nobody looks elegant on a muddy descent, and nobody minds.",
  ],
  subjects: [
    {
      angle: "starting on trails",
      open: [
        "Trail running is walking that got carried away.",
        "You do not need a mountain; a wet park will do.",
      ],
      heading: "Slower than on the road",
      titles: [
        "Starting on trails: forget your pace",
        "Your first ten kilometres off the road",
        "A trail plan for {season}",
      ],
      sentences: [
        "Measure time rather than distance: an hour is an hour, whatever the hill says.",
        "Walk the steep parts. Everybody does, including those who win.",
        "Look three steps ahead, not at your feet.",
        "Short, quick steps on the way down save your knees.",
        "Tell somebody where you run, and carry a jacket even if the sky is blue.",
        "Two easy runs and one hilly one a week are a plan.",
      ],
    },
    {
      angle: "choosing a trail shoe",
      products: ["Fleet 3", "Fleet 3 Wide"],
      open: [
        "There is no shoe for everything, but there is one for your usual loop.",
        "A trail shoe is grip, room and honesty about your mud.",
      ],
      heading: "Grip, drop, width",
      titles: [
        "{product}: who it is for, and who should leave it",
        "Grip, drop, width: choosing a trail shoe",
        "Which Fleet for {place}?",
      ],
      sentences: [
        "Deep lugs are for mud; on rock and gravel they only wear down.",
        "A lower drop asks for stronger calves, so change slowly.",
        "Take half a size more than on the road, for the descents.",
        "If your toes are broad, try the wide last before you go longer.",
        "A rock plate is dull to talk about and a joy on day two.",
        "Retire them when the foam stays creased after a night's rest.",
      ],
    },
    {
      angle: "eating on long runs",
      products: ["Rill Vest 8", "Rill Vest 12"],
      open: ["Most bad last hours are made in the first one.", "A long run is a picnic with a schedule."],
      heading: "Before you are hungry",
      titles: [
        "Eating on long runs: start early, keep it boring",
        "What is in our vests for {n} hours",
        "Food for the {place} loop",
      ],
      sentences: [
        "Eat something after forty minutes and then every half hour.",
        "Practise in training with whatever the race will hand out.",
        "Salted potatoes are cheaper than gels and nicer than most.",
        "Drink to thirst, and carry a cup.",
        "Your stomach likes easy pace; your head likes sugar.",
        "Afterwards, eat a proper meal within the hour and call it recovery.",
      ],
    },
  ],
  close: [
    "See you at the start, or at the cake afterwards.",
    "Try a pair at a demo run; muddy returns are the idea.",
    "Run easy.",
    "The route file is attached, the weather is up to you.",
  ],
  prefers: {
    product_line: ["Run"],
    activity: ["Trail Running"],
    audience: ["Trail Runners"],
    claims: ["Recycled face fabric", "Carbon footprint declared"],
  },
};

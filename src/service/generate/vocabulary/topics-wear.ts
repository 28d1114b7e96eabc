import type { Topic } from "../vocabulary.ts";

export const footwear: Topic = {
  name: "footwear",
  weight: 10,
  category: "Footwear",
  tags: ["boots", "fit", "blisters", "resoling", "hiking"],
  products: ["Fellgate Mid", "Moor Low", "Serac Boot", "Scree Approach", "Fellgate Low"],
  open: [
    "A boot should disappear by the second hour of the walk.",
    "We wore the {product} for {n} weeks around {place} before we wrote a word about it.",
  ],
  subjects: [
    {
      angle: "finding the right fit",
      open: [
        "Most blisters begin in the shop, an hour before closing time.",
        "Feet swell, socks differ, and every brand measures in its own way.",
      ],
      heading: "In the shop",
      titles: [
        "Which Tarnbrook boot fits your foot?",
        "Finding the right fit: a ten-minute test for the shop",
        "{product} or {product2}? Start with your heel",
      ],
      sentences: [
        "Try boots on in the afternoon, in the socks you walk in.",
        "Push your toes to the front: a finger should fit behind the heel.",
        "Walk down a slope and stamp; if your toes touch, go up half a size.",
        "Your heel may move a little on the first day, and not at all after a week.",
        "Most people have one longer foot: buy for that one and lace the other tighter.",
        "Keep them on for twenty minutes before you decide.",
      ],
    },
    {
      angle: "lacing for the descent",
      open: [
        "Black toenails are made at the top, by people who do not stop to lace.",
        "Two minutes at the summit save two weeks of sore toes.",
      ],
      heading: "Lace it twice",
      titles: [
        "Lacing for the descent: two knots that save your toes",
        "The knot we tie at every summit",
        "How to lace the {product}",
      ],
      sentences: [
        "Loosen everything for the way up, so that your calf can work.",
        "At the top, knock the heel back into the boot and begin again from the toes.",
        "A surgeon's knot at the ankle keeps the tension below it apart from the one above.",
        "Skip a hook where it presses: nobody checks.",
        "Double the bow and tuck the ends away from the brambles.",
        "If your toes go numb, it is too tight; if they touch, it is too loose.",
      ],
    },
    {
      angle: "looking after leather",
      products: ["Fellgate Mid", "Serac Boot"],
      open: [
        "Leather that is looked after outlives the car that took you there.",
        "Boots are at their dirtiest when you are at your laziest.",
      ],
      heading: "After the walk",
      titles: [
        "Looking after leather boots in {season}",
        "How long should a boot last? Ours made {n} years",
        "A boot care routine that takes ten minutes",
      ],
      sentences: [
        "Brush off the mud while it is wet: dry mud draws the oil out of leather.",
        "Take out the insoles, open the laces wide and let the boots dry away from the heater.",
        "Stuff them with newspaper and change it once.",
        "Wax when the leather looks pale, not by the calendar, and work it into the seams.",
        "Store them on a shelf rather than in a plastic bag.",
        "When the heel is worn to the midsole, it is time for our cobblers.",
      ],
    },
    {
      angle: "breaking in new boots",
      open: [
        "A stiff boot is an investment, and the first weeks are the interest.",
        "New boots want to be introduced, not surprised.",
      ],
      heading: "The first fifty kilometres",
      titles: [
        "Breaking in new boots without breaking yourself",
        "The first fifty kilometres in the {product}",
        "New boots, {place}, and no plasters",
      ],
      sentences: [
        "Wear them at home for an evening; you can still return them if they never went outside.",
        "Then to work, then to the shops, then for an hour on a path you know.",
        "Tape the places that get warm before they get sore.",
        "Two thin socks rub against each other instead of against you.",
        "Do not soak them, do not use alcohol, do not listen to your uncle.",
        "After fifty kilometres the sole bends where your foot does, and the rest is walking.",
      ],
    },
  ],
  close: [
    "Bring your old pair to any dealer, and they will read the wear with you.",
    "We resole most of our boots twice: ask before you throw them away.",
    "If they still hurt after a month, talk to us. That is what the fit promise is for.",
    "Then go for a walk.",
  ],
  prefers: {
    product_line: ["Footwear"],
    activity: ["Hiking", "Backpacking"],
    audience: ["Day Hikers", "Backpackers"],
    claims: ["Repairable by design", "PFAS-free repellency"],
  },
};

export const shells: Topic = {
  name: "shells",
  weight: 9,
  category: "Clothing",
  tags: ["rain", "shell jackets", "layering", "waterproofing", "storm"],
  products: ["Squall Jacket", "Squall Trousers", "Drizzle Anorak", "Gannet Shell"],
  open: [
    "{place} gave us {n} days of rain in {season}, which is exactly what we came for.",
    "Nobody is waterproof for ever, but you can be for a very long afternoon.",
  ],
  subjects: [
    {
      angle: "restoring water repellency",
      products: ["Squall Jacket", "Squall Trousers", "Gannet Shell"],
      open: [
        "Almost every jacket that comes to us as leaking is only dirty.",
        "When drops stop rolling off, the jacket wants a wash, not a successor.",
      ],
      heading: "Make it bead again",
      titles: [
        "Your jacket is not leaking: how to restore water repellency",
        "Wash your {product}. Really.",
        "Make it bead again: repellency in {n} steps",
      ],
      sentences: [
        "When the outer fabric soaks through, it feels like a leak although the membrane is whole.",
        "Close every zip, wash at thirty degrees with a soap meant for shells, and rinse twice.",
        "Dry it on low heat for twenty minutes: warmth wakes the old finish up.",
        "Sprinkle water on the shoulders; if it still soaks in, use a PFAS-free spray.",
        "Spray while it is damp, hang it up, and wipe off what runs.",
        "Dirt and sunscreen do more harm than washing ever will.",
      ],
    },
    {
      angle: "layering for wet days",
      products: ["Squall Jacket", "Drizzle Anorak", "Gannet Shell"],
      open: [
        "There is bad weather, and there is bad clothing, and sometimes there is both.",
        "Being damp from inside is still being damp.",
      ],
      heading: "Three thin things",
      titles: [
        "Layering for wet days: three thin things",
        "What to wear under the {product}",
        "Dressed for {place} in {season}",
      ],
      sentences: [
        "Start a little cold: you will be warm in ten minutes.",
        "Wool or a thin synthetic goes next to the skin, and cotton stays at home.",
        "A light fleece breathes better under a shell than a padded jacket.",
        "Open the vents before you sweat rather than after.",
        "Keep one dry layer in the pack for the moment you stop.",
        "Hands, head and feet decide how the rest of you feels.",
      ],
    },
    {
      angle: "life without PFAS",
      open: [
        "It took us four years to get rid of a chemical that nobody sees.",
        "For decades the best finish was also the worst.",
      ],
      heading: "A finish that asks for care",
      titles: [
        "Why we took PFAS out of every shell",
        "Life without PFAS: what changes for you",
        "{product}: the first season without PFAS",
      ],
      sentences: [
        "The old finishes worked well and stayed in rivers for longer than any of us will.",
        "The new one repels water just as well on the first day and needs refreshing sooner.",
        "Oil stains it more easily, so wash it after a day of sunscreen.",
        "We tested {n} finishes over two winters before we chose.",
        "The laboratory reports are on the product page, with the figures that we like less.",
        "A jacket you care for twice a year will outlast one you replace every third.",
      ],
    },
    {
      angle: "choosing a rain jacket",
      products: ["Squall Jacket", "Drizzle Anorak", "Gannet Shell"],
      open: [
        "A shell has two jobs: keeping rain out and letting you out.",
        "The best rain jacket is the one that you wear before you are wet.",
      ],
      heading: "Two layers or three",
      titles: [
        "Two layers or three? How to choose a rain jacket",
        "{product} or {product2}: the honest comparison",
        "The hood test, and {n} more for the fitting room",
      ],
      sentences: [
        "Two and a half layers pack small and suit those who carry a jacket more than they wear it.",
        "Three layers last longer under a rucksack and feel less clammy.",
        "Put up the hood, turn your head and look: you should see a shoulder, not a seam.",
        "Lift both arms; the hem should stay where it is.",
        "Long pit zips do more for your comfort than any number on the tag.",
        "Buy it large enough for a fleece, but no larger.",
      ],
    },
  ],
  close: [
    "Pinholes are ours to mend: send it in.",
    "Hang it up when you get home. That is half of all care.",
    "Rain is only half as long if you are dressed for it.",
    "If yours is older than five years, bring it to a repair day.",
  ],
  prefers: {
    product_line: ["Shells"],
    activity: ["Hiking", "Backpacking", "Ski Touring"],
    audience: ["Day Hikers", "Backpackers", "Climbers"],
    claims: ["PFAS-free repellency", "Recycled face fabric", "Repairable by design"],
  },
};

export const insulation: Topic = {
  name: "insulation",
  weight: 7,
  category: "Clothing",
  tags: ["down jackets", "fleece", "wool", "winter", "layering"],
  products: [
    "Ptarmigan Jacket",
    "Ptarmigan Vest",
    "Hollow Fleece",
    "Fold Merino 180",
    "Fold Merino 240",
    "Burrow Hoody",
  ],
  open: [
    "You need less insulation than you think, and you need it sooner.",
    "Near {place} in January, theory ends quickly.",
  ],
  subjects: [
    {
      angle: "down or synthetic",
      products: ["Ptarmigan Jacket", "Burrow Hoody"],
      open: [
        "Warmth is air that stays where it is.",
        "There is no best insulation; there is only the weather you are going to have.",
      ],
      heading: "Dry cold, wet cold",
      titles: [
        "Down or synthetic? Ask the weather",
        "{product} or {product2} for a week near {place}?",
        "Dry cold, wet cold: choosing insulation",
      ],
      sentences: [
        "Down is the lightest warmth there is, as long as it stays dry.",
        "Synthetic filling keeps working when it is damp, and dries on your back.",
        "For stops and nights in dry cold, take down.",
        "For moving in sleet, take synthetic or simply a fleece.",
        "Down lasts for decades with care; synthetic loses loft each time it is packed.",
        "Many of us carry a thin one of each in {season}.",
      ],
    },
    {
      angle: "caring for wool",
      products: ["Fold Merino 180", "Fold Merino 240"],
      open: [
        "Sheep do not wash often, and neither should your base layer.",
        "Merino forgives nearly everything except the tumble dryer.",
      ],
      heading: "Wear it, air it, wear it",
      titles: [
        "Caring for merino: wash less, air more",
        "How the {product} gets through {n} days without a wash",
        "Moths, holes and merino",
      ],
      sentences: [
        "Air it overnight, and most smells are gone by morning.",
        "When it needs a wash, turn it inside out and choose the wool cycle with cold water.",
        "No softener: it coats the fibres and makes them hold on to odour.",
        "Dry it flat, so that the shoulders stay where you left them.",
        "Small holes are quickly darned, and a darn is a decoration.",
        "Store it clean, because moths are after the crumbs.",
      ],
    },
    {
      angle: "staying warm when you stop",
      products: ["Ptarmigan Jacket", "Ptarmigan Vest", "Hollow Fleece"],
      open: [
        "You do not get cold while walking. You get cold while looking for the sandwiches.",
        "Every break begins with losing heat.",
      ],
      heading: "The first minute of the break",
      titles: [
        "The first minute of the break decides",
        "Staying warm when you stop",
        "A belay jacket for walkers: the {product}",
      ],
      sentences: [
        "Put the warm jacket on before you are cold, over everything, shell included.",
        "Sit on your pack or on a piece of foam, never on the rock.",
        "Eat first, then take photographs.",
        "Swap damp gloves for the dry pair next to your stomach.",
        "Five minutes are a rest; fifteen are a camp.",
        "Start the next stretch slowly, and take the jacket off after the first bend.",
      ],
    },
  ],
  close: [
    "Stay warm out there.",
    "The full size chart is on the product page, with the measurements of real people.",
    "Zips, cuffs and cords are all replaceable. So is the patience of our tailors, up to a point.",
  ],
  prefers: {
    product_line: ["Insulation"],
    activity: ["Hiking", "Ski Touring", "Camping", "Travel"],
    audience: ["Day Hikers", "Climbers", "Winter Campers"],
    claims: ["Responsible down", "Recycled face fabric"],
  },
};

import type { Topic } from "../vocabulary.ts";
import { cooking, shelter, sleep } from "./topics-camp.ts";
import { dealers, people } from "./topics-company.ts";
import { climbing, packs, running } from "./topics-move.ts";
import { footwear, insulation, shells } from "./topics-wear.ts";
import { repair, routes, safety } from "./topics-world.ts";

export const topics: readonly Topic[] = [
  shelter,
  footwear,
  shells,
  packs,
  sleep,
  repair,
  routes,
  cooking,
  insulation,
  running,
  climbing,
  safety,
  dealers,
  people,
];

/**
 * Titles by the key of the content type; articles take those of their subject, and these when they are used up. A template whose slot has no words
 * for an item (a product where the topic has none, a campaign where none runs) is left out for it.
 */
export const titles: Readonly<Record<string, readonly string[]>> = {
  article: [
    "{Angle}: what we learned near {place}",
    "{Angle} in {season}",
    "Your questions about {angle}",
    "{person} explains {angle}",
  ],
  product_page: ["{product}", "{product}: fit, care and repair", "{product} – {season} {year} edition"],
  newsletter: [
    "{Month}: {angle}",
    "{Angle}, in two minutes",
    "Your {season} letter: {place} and {angle}",
    "New for {season}: the {product}",
    "Three good reads about {angle}",
  ],
  retailer_email: [
    "Dealer update {month} {year}",
    "In stock now: {product}",
    "{campaign}: your shop kit is ready",
    "Training dates for {season} {year}",
    "Dealer letter: {angle}",
    "For your team: {angle}",
  ],
  care_email: [
    "Your {product} is a year old",
    "Time to look after your {product}",
    "{product}: care for {season}",
  ],
  campaign_page: ["{campaign}", "{campaign}: {angle}", "{campaign} – {place}", "{season} {year}: {angle}"],
  signup_page: [
    "Sign up: workshop on {angle}",
    "Join the {place} test weekend",
    "Download: our guide to {angle}",
  ],
  social_post: [
    "{Angle} – carousel",
    "{product} in {place}",
    "{place}, {month} morning",
    "Question of the week: {angle}",
  ],
  feed_post: [
    "{Angle}: link post",
    "New article: {angle}",
    "{product}: three details",
    "Save for later: {angle}",
  ],
  short_post: ["One tip on {angle}", "{product} in ten seconds", "Poll: {angle}", "Did you know? {Angle}"],
  careers_post: ["Join us in {place}", "{Angle} – team post", "Meet the team: {person}"],
  event: [
    "{product} demo day, {place}",
    "Workshop in {place}: {angle}",
    "Tarnbrook test weekend {place}",
    "Repair day {place}, {month} {year}",
    "Evening talk in {place}: {angle}",
  ],
  webinar: ["Live: {angle}", "Live with {person}: {angle}", "Dealer webinar: {angle}"],
  video: [
    "{Angle}, shown in {n} minutes",
    "{place} in {season}: the film",
    "{product}: the details",
    "{person} on {angle}",
  ],
  podcast: ["{Angle}, with {person}", "One {season} walk with {person}", "On the way: {place}"],
  photo: [
    "{product}, {place}, {season} {year}",
    "{place} at first light, {season} {year}",
    "{Angle}, {place}: series of {n}",
    "{person}, {place}",
  ],
  brochure: [
    "{line} catalogue {season} {year}",
    "{product}: sales sheet",
    "Pocket guide: {angle}",
    "Workbook {season} {year}: {line}",
  ],
  asset_file: [
    "{campaign}: logo package",
    "{product}: cut-outs",
    "Window kit {season} {year}: print files",
    "{line} size charts {year}",
  ],
  shared_draft: [
    "Draft: {angle}",
    "Interview notes: {person}",
    "{campaign}: message house",
    "Outline: {place} in {season}",
  ],
  planning_card: [
    "{campaign}: kick-off",
    "{Month} {year} editorial plan",
    "Photo brief: {place}, {season}",
    "{campaign}: message and dates",
    "Idea: {angle} as a series",
  ],
};

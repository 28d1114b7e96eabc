import type { TranslationWords } from "../vocabulary.ts";

export const translations: readonly TranslationWords[] = [
  {
    language: "German",
    topic: "shelter",
    place: "Innsbruck",
    title: "Zelt aufbauen bei starkem Wind: so steht es auch am Morgen noch",
    paragraphs: [
      "Ein Zelt ist nur so gut wie der Platz, auf dem es steht. Suchen Sie zuerst eine Mulde oder eine Mauer, dann erst die Aussicht.",
      "Stellen Sie die niedrige Seite in den Wind und setzen Sie zwei Heringe, bevor Sie eine Stange anfassen. Nach einer Viertelstunde prüfen Sie die Abspannung noch einmal, denn nasser Stoff dehnt sich.",
    ],
  },
  {
    language: "German",
    topic: "repair",
    place: "Garmisch",
    title: "Der Reißverschluss ist nicht kaputt – meistens ist es der Schieber",
    paragraphs: [
      "Gehen die Zähne hinter dem Schieber wieder auf, ist der Schieber abgenutzt und nicht der Reißverschluss. Drücken Sie ihn mit einer Zange vorsichtig zusammen.",
      "Ein neuer Schieber kostet weniger als ein Kaffee. Schicken Sie uns ein Foto, wir nennen Ihnen die passende Größe.",
    ],
  },
  {
    language: "German",
    topic: "routes",
    place: "Zermatt",
    title: "Von Hütte zu Hütte: was wirklich in den Rucksack gehört",
    paragraphs: [
      "Hüttenschlafsack, Ohrstöpsel, Bargeld und Hausschuhe, in dieser Reihenfolge. Alles andere wiegt nur.",
      "Fragen Sie den Hüttenwirt nach den Verhältnissen und nicht das Telefon. Den Müll nehmen Sie wieder mit ins Tal.",
    ],
  },
  {
    language: "French",
    topic: "footwear",
    place: "Chamonix",
    title: "Bien lacer ses chaussures pour la descente",
    paragraphs: [
      "À la montée, on desserre tout pour laisser travailler le mollet. Au sommet, on recale le talon et on recommence depuis les orteils.",
      "Si les orteils s’engourdissent, c’est trop serré ; s’ils touchent, c’est trop lâche. Un double nœud, et l’on n’y pense plus.",
    ],
  },
  {
    language: "French",
    topic: "shells",
    place: "Chamonix",
    title: "Votre veste ne fuit pas : raviver la déperlance",
    paragraphs: [
      "Quand le tissu extérieur se gorge d’eau, on croit à une fuite, alors que la membrane est intacte. Lavez à trente degrés, rincez deux fois.",
      "Vingt minutes de séchage doux réveillent l’ancien traitement. Sinon, un spray sans PFAS suffit.",
    ],
  },
  {
    language: "Swedish",
    topic: "sleep",
    place: "Åre",
    title: "Sova ute på vintern: så gör vi annorlunda",
    paragraphs: [
      "Ät något fett och gå ett varv runt lägret innan du lägger dig. Lägg morgondagens strumpor, vattenfiltret och telefonen i sovsäcken.",
      "Håll munnen utanför säcken, annars är dunet blött på morgonen. Torka den i solen vid lunch.",
    ],
  },
  {
    language: "Swedish",
    topic: "insulation",
    place: "Åre",
    title: "Ull: vädra mer, tvätta mindre",
    paragraphs: [
      "Häng ut plagget över natten, så är det mesta av lukten borta. Inget sköljmedel, och torka alltid plant.",
    ],
  },
  {
    language: "Spanish",
    topic: "safety",
    place: "Picos de Europa",
    title: "Cuándo darse la vuelta: el tiempo en la montaña",
    paragraphs: [
      "Lea dos pronósticos y, si no coinciden, planifique con el peor. Las tormentas tienen horario de oficina: a las dos, abajo.",
      "Diga por la mañana y en voz alta a qué hora se dará la vuelta. La montaña seguirá allí la semana que viene.",
    ],
  },
  {
    language: "Japanese",
    topic: "shelter",
    place: "Kamikōchi",
    title: "上高地の秋、テントで過ごす二日間",
    paragraphs: [
      "テントの良し悪しは、張る場所で決まります。景色を探す前に、くぼ地や石垣を探しましょう。",
      "風下に入口を向け、ポールに触れる前に風上の二隅を固定します。朝の結露は、たたむ前に拭き取ってください。",
    ],
  },
  {
    language: "Japanese",
    topic: "shells",
    place: "Kamikōchi",
    title: "雨具のお手入れ:撥水を取り戻す",
    paragraphs: [
      "表地が濡れても、膜は傷んでいません。三十度で洗い、二度すすぎ、二十分ほど低温で乾かすと撥水がよみがえります。",
    ],
  },
  {
    language: "Arabic",
    topic: "footwear",
    place: "Innsbruck",
    rtl: true,
    title: "كيف تختار حذاء المشي المناسب",
    paragraphs: [
      "جرّب الحذاء بعد الظهر وبالجوارب التي تمشي بها. ادفع أصابعك إلى الأمام: يجب أن يتسع خلف الكعب لإصبع واحد.",
    ],
  },
  {
    language: "Hebrew",
    topic: "packs",
    place: "Zermatt",
    rtl: true,
    title: "שני לילות בהרים: רשימת ציוד קצרה",
    paragraphs: ["שקלו קודם את שלושת הגדולים: אוהל, שק שינה ותרמיל. אחר כך הוציאו דבר אחד."],
  },
];

/** Texts of words that follow from a seed and do not repeat: what repeats would flatter every cache and compression. */
export function seededWords(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  return (length) => {
    let text = '';
    while (text.length < length) text += `${next().toString(36)} `;
    return text.slice(0, length);
  };
}

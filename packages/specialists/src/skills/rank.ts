/**
 * Ranks skills by their triggers: a hint for the coordinator. A trigger is a literal, and counts where it stands between
 * borders of words. No trigger loads a body.
 */
import { asciiLower } from '@reprise/contracts';

interface Triggered {
  readonly name: string;
  readonly triggers: readonly string[];
}

/** A skill that a text suggests, with the longest of its triggers that stands in the text. */
interface Suggested {
  readonly name: string;
  readonly trigger: string;
}

/** The skills whose triggers stand in a text: the longest trigger first, then by name. */
export function rankSkills(skills: readonly Triggered[], text: string, most = 5): readonly Suggested[] {
  const words = asciiLower(text);
  const found: Suggested[] = [];
  for (const { name, triggers } of skills) {
    const hits = triggers.filter((trigger) => trigger !== '' && standsIn(words, asciiLower(trigger)));
    const longest = hits.reduce<string | undefined>(
      (best, hit) => (best === undefined || hit.length > best.length ? hit : best),
      undefined,
    );
    if (longest !== undefined) found.push({ name, trigger: longest });
  }
  return found
    .toSorted((a, b) => b.trigger.length - a.trigger.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .slice(0, most);
}

/** Whether a literal stands in a text with no letter or digit directly beside it. */
function standsIn(text: string, literal: string): boolean {
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1)) {
    const end = at + literal.length;
    const before = [...text.slice(Math.max(0, at - 2), at)].at(-1);
    const [after] = [...text.slice(end, end + 2)];
    if (!isOfWord(before) && !isOfWord(after)) return true;
  }
  return false;
}

function isOfWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}

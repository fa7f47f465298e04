/** The links in arguments of tools: which stand for plain content, and which for content with a salt. */
import { Ref, type Value } from '@reprise/contracts';

/**
 * The links of calls that stand for plain content: what sessions show or are told, like the words of every message. The
 * same text has the same link there; every other link stands for content with a salt, which each storing draws anew.
 */
const PLAIN_LINKS: Readonly<Record<string, readonly string[]>> = {
  swarm_create: ['goal_ref', 'task_ref'],
  swarm_disband: ['reason_ref'],
  swarm_task: ['task_ref', 'result_ref'],
};

/** Whether a link in the arguments of a tool stands for plain content. */
export function isPlainLink(tool: string, name: string): boolean {
  return PLAIN_LINKS[tool]?.includes(name) ?? false;
}

/** The arguments of a tool without the links that differ at each storing of the same text: null stands for each. */
export function withoutSaltedLinks(tool: string, value: Value, name = ''): Value {
  if (value instanceof Ref) return isPlainLink(tool, name) ? value : null;
  if (Array.isArray(value)) return value.map((part) => withoutSaltedLinks(tool, part, name));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const parts = Object.entries(value).map(([of, part]) => [of, withoutSaltedLinks(tool, part as Value, of)] as const);
  return Object.fromEntries(parts);
}

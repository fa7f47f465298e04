/** The links in arguments of tools: which stand for plain content, and which for content with a salt. */
import { Ref, type Value } from '@reprise/contracts';

/**
 * The texts in arguments of tools that are kept as links, each under its name with `_ref`. `plain` ones are what sessions
 * show or are told, like the words of every message: the same text has the same link. The others are kept with a salt,
 * which each storing draws anew, so that they can be erased.
 */
export const TOOL_TEXTS: Readonly<Record<string, Readonly<Record<string, 'plain' | 'salted'>>>> = {
  agent_deactivate: { reason: 'salted' },
  agent_set_status: { reason: 'salted' },
  swarm_create: { goal: 'plain' },
  swarm_disband: { reason: 'plain' },
  swarm_task: { task: 'plain', result: 'plain' },
};

/** Links to plain content that are made of other arguments: the tasks of slots. */
const OTHER_PLAIN: Readonly<Record<string, readonly string[]>> = {
  swarm_create: ['task_ref'],
};

/** Whether a link in the arguments of a tool stands for plain content. */
export function isPlainLink(tool: string, name: string): boolean {
  const text = name.endsWith('_ref') ? name.slice(0, -'_ref'.length) : '';
  return TOOL_TEXTS[tool]?.[text] === 'plain' || OTHER_PLAIN[tool]?.includes(name) === true;
}

/** The arguments of a tool without the links that differ at each storing of the same text: null stands for each. */
export function withoutSaltedLinks(tool: string, value: Value, name = ''): Value {
  if (value instanceof Ref) return isPlainLink(tool, name) ? value : null;
  if (Array.isArray(value)) return value.map((part) => withoutSaltedLinks(tool, part, name));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const parts = Object.entries(value).map(([of, part]) => [of, withoutSaltedLinks(tool, part as Value, of)] as const);
  return Object.fromEntries(parts);
}

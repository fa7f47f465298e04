/** The state of a node for people: a mark and a word, never a color alone. Plain text and JSON take both from here. */
import { hasEnded, type NodeView, type TreeView } from './nodes.js';

interface ShownState {
  readonly mark: Mark;
  readonly word: string;
}

const MARKS = ['○', '●', '◐', '?', '⏸', '✓', '✗', '⊘', '◆'] as const;

type Mark = (typeof MARKS)[number];

const state = (mark: Mark, word: string): ShownState => ({ mark, word });

const SHOWN_STATES = {
  pending: state('○', 'pending'),
  active: state('●', 'active'),
  waiting_children: state('◐', 'waits for children'),
  waiting_input: state('?', 'waits for an answer'),
  question: state('?', 'open'),
  serial: state('◆', 'runs its steps'),
  paused: state('⏸', 'paused'),
  complete: state('✓', 'complete'),
  failed: state('✗', 'failed'),
  cancelled: state('⊘', 'cancelled'),
} as const satisfies Record<string, ShownState>;

/** The state of a node. */
export function stateOf(node: Pick<NodeView, 'type' | 'status' | 'paused' | 'run'>): ShownState {
  const { type, status, paused, run } = node;
  if (hasEnded(node)) return SHOWN_STATES[status];
  if (paused) return SHOWN_STATES.paused;
  if (type === 'ask') return SHOWN_STATES.question;
  if (type === 'serial' && status !== 'pending') return SHOWN_STATES.serial;
  // A run whose call waits for an answer is under way, but it holds no slot.
  return status === 'active' && run === 'waiting' ? SHOWN_STATES.waiting_input : SHOWN_STATES[status];
}

/**
 * The state of a tree.
 *
 * @param isUnowned no process has the world of the tree open, so that nothing of it goes on
 */
export function stateOfTree({ status }: Pick<TreeView, 'status'>, isUnowned = false): ShownState {
  if (status !== 'running') return SHOWN_STATES[status];
  return isUnowned ? state('○', 'no process runs it') : state('●', 'running');
}

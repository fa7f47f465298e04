/** The loop policies of agents, by name or written out. */
import { RepriseError } from '@reprise/contracts';
import { LOOP_ACTIONS, type LoopPolicy as LoopConfig, loopPolicy } from '../contracts/config.js';

/** How loops are detected, and the actions against them. */
interface LoopPolicy {
  /** How many steps back are compared; 20 when absent. */
  readonly window?: number;
  /** How often the same calls with the same results must come in a row; 3 when absent. */
  readonly repeats?: number;
  /** How often the same calls must come in a row, whatever their results; 8 when absent. */
  readonly blind?: number;
  /** The action for the first loop, the second loop …; the last action is repeated from then on. */
  readonly actions: readonly (typeof LOOP_ACTIONS)[number][];
  /** The text that `steer` sends to the model. */
  readonly steer?: string;
}

/** Policies by name: `coding` steers once and then fails; `operator` steers once and then completes with a warning. */
export const LOOP_POLICIES = {
  coding: { actions: ['steer', 'fail'] },
  operator: { actions: ['steer', 'complete_with_warning'] },
} as const satisfies Record<string, LoopPolicy>;

/** A policy by its name or written out; `false` detects no loops. */
export type LoopChoice = keyof typeof LOOP_POLICIES | LoopPolicy | false;

const STEER_TEXT =
  'The same tool calls have come round again without getting anywhere. Stop repeating them: say what you have found ' +
  'out, and go another way, or finish with what you have.';

/** A policy without the link to its text, and the text. */
export interface ChosenLoop {
  readonly policy: Omit<LoopConfig, 'steer_ref'>;
  readonly steer: string;
}

/**
 * Finds the policy of an author's choice; null for `false`.
 *
 * @throws RepriseError `invalid_definition`
 */
export function chosenLoop(choice: LoopChoice, where: string): ChosenLoop | null {
  if (choice === false) return null;
  const said: LoopPolicy | undefined = typeof choice === 'string' ? LOOP_POLICIES[choice] : choice;
  const { window = 20, repeats = 3, blind = 8, actions, steer = STEER_TEXT } = said ?? { actions: undefined };
  const policy = loopPolicy.omit({ steer_ref: true }).safeParse({ window, repeats, blind_repeats: blind, actions });
  if (policy.success && typeof steer === 'string') return { policy: policy.data, steer };
  throw new RepriseError('invalid_definition', 'invalid option "loop"', {
    where: `${where} loop`,
    expected: `coding, operator, false, or {window: 2–32, repeats: 2–16, blind: 2–32, actions: [${LOOP_ACTIONS.join(' | ')}]}`,
    actual: choice,
  });
}

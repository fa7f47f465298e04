/** How loops are found and what is done about them, by name. */
import { RepriseError } from '@reprise/contracts';
import { LOOP_ACTIONS, type LoopPolicy as LoopConfig, loopPolicy } from '../contracts/config.js';

/** How loops are found and what is done about them, in words of one's own. */
export interface LoopPolicy {
  /** How many steps back are looked at; 20 when not said. */
  readonly window?: number;
  /** How often the same calls with the same results must come in a row; 3 when not said. */
  readonly repeats?: number;
  /** How often the same calls must come in a row whatever their results; 8 when not said. */
  readonly blind?: number;
  /** What is done the first time, the second time …; the last one from then on. */
  readonly actions: readonly (typeof LOOP_ACTIONS)[number][];
  /** What the model is told by `steer`. */
  readonly steer?: string;
}

/** Policies by name: `coding` steers once and then fails, `operator` steers once and then ends with what there is. */
export const LOOP_POLICIES = {
  coding: { actions: ['steer', 'fail'] },
  operator: { actions: ['steer', 'complete_with_warning'] },
} as const satisfies Record<string, LoopPolicy>;

/** A policy by its name or in words of one's own; `false` looks for no loops. */
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
 * The policy that a choice means; null for none.
 *
 * @throws RepriseError `invalid_definition`
 */
export function chosenLoop(choice: LoopChoice, where: string): ChosenLoop | null {
  if (choice === false) return null;
  const said: LoopPolicy | undefined = typeof choice === 'string' ? LOOP_POLICIES[choice] : choice;
  const { window = 20, repeats = 3, blind = 8, actions, steer = STEER_TEXT } = said ?? { actions: undefined };
  const policy = loopPolicy.omit({ steer_ref: true }).safeParse({ window, repeats, blind_repeats: blind, actions });
  if (policy.success && typeof steer === 'string') return { policy: policy.data, steer };
  throw new RepriseError('invalid_definition', 'this is not a loop policy', {
    where: `${where} loop`,
    expected: `coding, operator, false, or {window: 2–32, repeats: 2–16, blind: 2–32, actions: [${LOOP_ACTIONS.join(' | ')}]}`,
    actual: choice,
  });
}

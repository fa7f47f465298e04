/** One of several who answer a question at once: by the handle of the tree, or by the item that people see. */
import { putText } from '@reprise/agent';
import { type Actor, actorOf, isRepriseError, type Value } from '@reprise/contracts';
import type { RequestOptions, World } from '@reprise/kernel';
import { putValue } from '@reprise/kernel/store';
import type { Tree } from '@reprise/tree';

/** What an answerer was told. */
export interface Told {
  readonly status: 'applied' | 'already_settled' | 'rejected';
  readonly actor?: Actor;
}

/** One who answers. */
export class Answerer {
  /** Who it is, whatever is recorded. */
  readonly actor: Actor;

  constructor(
    private readonly by: Pick<RequestOptions, 'as' | 'actor'>,
    private readonly id: string,
  ) {
    this.actor = actorOf(by.as ?? 'operator', by.actor);
  }

  /** Answers by the handle of the tree. @returns undefined when the process died before it said anything */
  async answer(tree: Tree | undefined, ask: number, word: string): Promise<Told | undefined> {
    return told(async () => tree?.answer(ask, word, { ...this.by, id: `answer ${this.id}` }));
  }

  /** Answers the item that people see. @returns undefined when the process died before it said anything */
  async settle(kernel: World | undefined, effect: string, word: string): Promise<Told | undefined> {
    return told(async () => {
      if (kernel === undefined) return undefined;
      const { content } = kernel;
      const payload = { value_ref: await putValue(content, word), text_ref: await putText(content, word) };
      return kernel.settle(effect, { status: 'ok', payload }, { ...this.by, id: `settle ${this.id}` });
    });
  }
}

async function told(answer: () => Promise<Told | undefined>): Promise<Told | undefined> {
  try {
    return await answer();
  } catch (error) {
    if (isRepriseError(error, 'world_closed') || isRepriseError(error, 'commit_failed')) return undefined;
    throw error;
  }
}

/** Whether the value of a pending item is a question with this number. */
export function isQuestion(value: Value, ask: number): boolean {
  const { session } = value as { readonly session?: { readonly key?: string } };
  return session?.key?.endsWith(`/${ask}`) === true;
}

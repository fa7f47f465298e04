/** What trees and teams wait for, each kind in a noun. */
import type { TeamWait } from '@reprise/specialists';
import type { TreeWait } from '@reprise/tree';

/** What is waited for, in a noun. */
export const WAIT_NOUNS: Readonly<Record<TreeWait['kind'] | TeamWait['kind'], string>> = {
  question: 'an answer of a person',
  approval: 'the approval of a person',
  person: 'an answer of a person',
  input: 'more input',
  limit: 'another limit',
  app: 'an answer of the app',
  pause: 'the end of a pause',
  budget: 'budget',
  slot: 'a slot',
  dependency: 'other nodes',
  children: 'its children',
  decision: 'a decision',
  coordinator: 'the coordinator',
  timer: 'a time',
};

/** A question of the page: its parameters, and the function that answers it. */
import type { ReadonlyStore } from '@reprise/kernel';
import type { DiffApps } from '@reprise/operators/diff';
import type { Past } from '../past/index.js';
import { type Parameters, readParameters } from './parameters.js';

/** What all questions of one server share. */
export interface Inspected {
  readonly store: ReadonlyStore;
  /** The path of the world as the user named it. */
  readonly path: string;
  /** The apps that replay the world. @throws RepriseError `invalid_argument` when none is at hand */
  apps(): Promise<DiffApps>;
  readonly past: Past;
}

/** One question: the world as its own reader sees it, whose reading ends with the request. */
export interface Asked extends Inspected {
  readonly signal: AbortSignal;
}

/** A question, ready to be asked. */
export interface Question {
  /** @returns the report, a value that becomes JSON @throws RepriseError `invalid_argument` for wrong parameters */
  answer(asked: Asked, query: URLSearchParams): Promise<object>;
}

/** Declares a question by its parameters and its answer. */
export function question<P>(parameters: Parameters<P>, answer: (asked: Asked, given: P) => Promise<object>): Question {
  return { answer: async (asked, query) => answer(asked, readParameters(parameters, query)) };
}

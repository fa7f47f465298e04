/** A refusal of a call: data for the model, or the code of a rejected command. */
import type { Value } from '@reprise/contracts';
import type { TreeRefusal } from '../contracts/commands.js';

/** Thrown before anything is changed, and caught by the one that takes the call or the command. */
export class Refused extends Error {
  readonly code: TreeRefusal;
  /** What a model is told besides the code. */
  readonly details: Readonly<Record<string, Value>>;

  constructor(code: TreeRefusal, details: Readonly<Record<string, Value>> = {}) {
    super(code);
    this.code = code;
    this.details = details;
  }
}

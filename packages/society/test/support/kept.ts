/** Calls in the form of the cell that they are sent to: links in place of texts. */
import type { AgentWorld } from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import type { Entity } from 'reprise/society';
import { answerOnce } from '../../src/api/repeated.js';

/** Sends an entity a call of a tool as its cell takes it. */
export function cellCall({ kernel }: AgentWorld, { address }: Entity, name: string, args: object, id?: string) {
  return answerOnce(kernel, address, { id: id ?? crypto.randomUUID(), name, args: args as Value });
}

/** The reviewers, and the tools by which they act on the desk. */
import { defineAgent } from 'reprise';
import { offerTool, ownerTool, text } from 'reprise/org';
import * as z from 'zod';

const args = z.strictObject({ text: text().min(1).max(4_000) });

/** Each tool as models are told of it. The desk receives a link to the text, as `text_ref`. */
export const calls = {
  approve: ownerTool({ description: 'Approves the document; the text says why.', args }),
  reject: ownerTool({ description: 'Rejects the document; the text has your reasons.', args }),
  escalate: ownerTool({ description: 'Hands the document to the level above; the text is your question.', args }),
};

const tools = Object.entries(calls).map(([name, call]) => offerTool(name, call));
const instructions = 'Review the document. Approve it, reject it, or escalate what is not yours to decide.';

export const reviewers = [
  defineAgent({ name: 'reviewer', model: 'main', instructions, tools }),
  defineAgent({ name: 'senior', model: 'main', instructions: `You are the senior. ${instructions}`, tools }),
];

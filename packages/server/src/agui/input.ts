/** The body of a request, `RunAgentInput` of AG-UI 1.0. What the protocol may add later is tolerated, at every level. */
import * as z from '@reprise/contracts/schema';

const id = z.string().min(1).max(128);

const source = z.looseObject({
  type: z.enum(['data', 'url', 'file']),
  value: z.string(),
  mimeType: z.exactOptional(z.string()),
});

const part = z.looseObject({
  type: z.string(),
  text: z.exactOptional(z.string()),
  source: z.exactOptional(source),
});

const toolCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.looseObject({
  id: z.string().min(1),
  role: z.string(),
  content: z.exactOptional(z.unknown()),
  toolCallId: z.exactOptional(z.string()),
  toolCalls: z.exactOptional(z.array(toolCall)),
});

const resumeEntry = z.looseObject({
  interruptId: z.string().min(1).max(256),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.exactOptional(z.unknown()),
});

/** A request to run an agent. */
export const runAgentInput = z.looseObject({
  threadId: id,
  runId: id,
  messages: z.array(message),
  tools: z.exactOptional(z.array(z.looseObject({ name: z.string() }))),
  context: z.exactOptional(z.array(z.unknown())),
  resume: z.exactOptional(z.array(resumeEntry).max(64)),
});

/** The parts of a message of several parts. */
export const messageParts = z.array(part).min(1).max(16);

/** A request to run an agent. */
export type RunAgentInput = z.infer<typeof runAgentInput>;
/** A message as the client has it. */
export type ClientMessage = RunAgentInput['messages'][number];
/** The answer to one interrupt. */
export type ResumeEntry = z.infer<typeof resumeEntry>;

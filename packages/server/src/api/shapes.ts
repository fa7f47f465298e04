/** The JSON of requests to sessions: what is checked is what the published description says. */
import * as z from '@reprise/contracts/schema';

const id = z.string().min(1).max(128);

/** A text, or a file in base64. */
const part = z.union([
  z.strictObject({ text: z.string().min(1) }),
  z.strictObject({
    base64: z.string(),
    media_type: z.string().min(1).max(255),
    name: z.exactOptional(z.string().min(1).max(256)),
  }),
]);

/** A message to a session. The same id is the same message, however often it is sent. */
export const inputBody = z.strictObject({
  id,
  text: z.exactOptional(z.string().min(1)),
  parts: z.exactOptional(z.array(part).min(1).max(16)),
  /** `input` (default) begins a run or waits for its turn; `steer` is read before the next step; `follow_up` after the run. */
  as: z.exactOptional(z.enum(['input', 'steer', 'follow_up'])),
  /** The agent of a session that begins with this message. */
  agent: z.exactOptional(z.string().min(1).max(128)),
  /** Labels of a session that begins with this message. */
  labels: z.exactOptional(z.record(z.string().max(64), z.string().max(256))),
  priority: z.exactOptional(z.int().min(-1000).max(1000)),
});

const command = <T extends string, F extends z.Shape>(type: T, fields: F) =>
  z.strictObject({ type: z.literal(type), id, ...fields });

/** A command to a session. */
export const commandBody = z.discriminatedUnion('type', [
  command('cancel', {
    scope: z.exactOptional(z.enum(['turn', 'run', 'all'])),
    reason: z.exactOptional(z.string().min(1).max(4096)),
  }),
  command('pause', {}),
  command('resume', {}),
  command('retry', {}),
  /** Takes back a message that was not taken up yet. */
  command('withdraw', { input: id }),
  command('compact', {}),
  command('close', {}),
]);

/** A decision about a pending item: exactly one of `approve`, `deny` and `answer`. */
export const decisionBody = z.strictObject({
  /** Names the request: sent again, it changes nothing. */
  id: z.exactOptional(z.string().min(1).max(256)),
  /** The digest of what was shown; a decision about something else is refused. */
  digest: z.exactOptional(z.string()),
  approve: z.exactOptional(z.literal(true)),
  args: z.exactOptional(z.unknown()),
  comment: z.exactOptional(z.string()),
  remember: z.exactOptional(z.union([z.literal(true), z.strictObject({ for: z.string() })])),
  deny: z.exactOptional(z.string()),
  answer: z.exactOptional(z.unknown()),
});

/** A message to a session, as a client sends it. */
export type InputBody = z.infer<typeof inputBody>;
/** A command to a session, as a client sends it. */
export type CommandBody = z.infer<typeof commandBody>;
/** A decision about a pending item, as a client sends it. */
export type DecisionBody = z.infer<typeof decisionBody>;

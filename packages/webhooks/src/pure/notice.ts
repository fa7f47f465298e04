/** Notices: what a receiver is told. They hold ids and statuses, and no content: nothing in an outbox is personal. */
import * as z from '@reprise/contracts/schema';

const id = z.string().min(1).max(512);
const code = z.string().min(1).max(96);

/** Each type of notice, as receivers read it in `type`. */
const NOTICE_TYPES = [
  'item.waiting',
  'run.ended',
  'run.failed',
  'tree.ended',
  'tree.failed',
  'project.ended',
  'swarm.ended',
  'swarm.failed',
  'cell.failed',
] as const;

/** The type of a notice. */
export type NoticeType = (typeof NOTICE_TYPES)[number];

/** The data of a notice. */
const noticeData = z.strictObject({
  world_id: id,
  /** The place in the journal, `frame.record`. */
  event_seq: z.string().max(32),
  /** The cell that it is about: its reducer and its key. */
  cell: z.tuple([z.string().max(200), z.string().max(256)]),
  session_id: z.exactOptional(id),
  run_id: z.exactOptional(id),
  status: z.exactOptional(z.string().max(32)),
  /** Why it failed; absent where nothing did. */
  code: z.exactOptional(code),
  /** Of a pending item: the id that `world.decide` takes. */
  item_id: z.exactOptional(id),
  item_kind: z.exactOptional(z.enum(['approval', 'question'])),
  /** Of a pending item: the tool whose call waits. */
  tool: z.exactOptional(z.string().max(200)),
});

/** The data of a notice. */
export type NoticeData = z.infer<typeof noticeData>;

/** A notice, and the record of its frame that it comes from. */
export const notice = z.strictObject({
  record: z.int().min(0),
  type: z.enum(NOTICE_TYPES),
  /** The time of its frame. */
  at: z.int().min(0),
  data: noticeData,
});

/** A notice, and the record of its frame that it comes from. */
export type Notice = z.infer<typeof notice>;

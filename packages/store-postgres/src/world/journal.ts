/** Reads the journal of a world. A page is one statement, so no page sees half of an append. */
import { RepriseError } from '@reprise/contracts';
import type { Head, ReadableJournal, StoredFrame } from '@reprise/kernel';
import { bytes, digest, one, text, whole } from '../connection/columns.js';
import type { Row } from '../connection/driver.js';
import { fenced } from '../tenure/take.js';
import type { OwnedPlace, WorldPlace } from './place.js';

/** The bytes of a page, about a mebibyte; a page has at least one frame. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_FRAMES_MAX = 256;

const PAGE = `
  SELECT seq, at, kind, head, bytes FROM (
    SELECT *, sum(length(bytes)) OVER (ORDER BY seq) - length(bytes) AS before FROM (
      SELECT * FROM reprise.frame WHERE world = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT ${PAGE_FRAMES_MAX}
    ) AS page
  ) AS sized WHERE before < ${PAGE_BYTES} ORDER BY seq`;

/** The reading half of the journal. */
export function journalReader(place: WorldPlace): ReadableJournal {
  const { connections, id, where } = place;

  async function* read(from: number, to = Number.MAX_SAFE_INTEGER): AsyncGenerator<StoredFrame> {
    const last = Math.min(to, Number.MAX_SAFE_INTEGER);
    for (let next = Math.max(from, 0); next <= last; ) {
      const page = await pageFrom(next, last);
      if (page.length === 0) return;
      for (const row of page) {
        const frame = frameOf(row, where, next);
        if (frame.seq !== next) throw holeAt(next, where);
        yield frame;
        next++;
      }
    }
  }

  /** An empty page is the end only when the head is before it; frames that came between the two are read again. */
  async function pageFrom(next: number, last: number): Promise<readonly Row[]> {
    for (let again = false; ; again = true) {
      const page = await connections.rows('read frames', PAGE, [id, next, last]);
      if (page.length > 0 || (await headOf(place)).seq < next) return page;
      if (again) throw holeAt(next, where);
    }
  }

  return {
    head: () => headOf(place),
    read,
    findKey: async (key) => {
      const row = one(
        await connections.rows(
          'look for a request',
          'SELECT seq FROM reprise.frame WHERE world = $1 AND key = $2 ORDER BY seq LIMIT 1',
          [id, Buffer.from(key, 'hex')],
        ),
      );
      return row && whole(row[0], where);
    },
    findLast: async (kind, seq) => {
      const row = one(
        await connections.rows(
          `look for a ${kind}`,
          `SELECT seq, at, kind, head, bytes FROM reprise.frame
           WHERE world = $1 AND kind = $2 AND seq <= $3 ORDER BY seq DESC LIMIT 1`,
          [id, kind, Math.min(seq, Number.MAX_SAFE_INTEGER)],
        ),
      );
      return row && frameOf(row, where, seq);
    },
  };
}

/** The head as the owner of a world reads it. @throws RepriseError `fenced` when another opening has taken the world over */
export async function ownedHead(place: OwnedPlace): Promise<Head> {
  const { connections, id, epoch, where } = place;
  const row = one(
    await connections.rows('read the head', 'SELECT seq, head, epoch FROM reprise.world WHERE id = $1', [id]),
  );
  if (row === undefined || row[2] !== epoch) throw fenced(where);
  return headOfRow(row, where);
}

async function headOf({ connections, id, where }: WorldPlace): Promise<Head> {
  const row = one(await connections.rows('read the head', 'SELECT seq, head FROM reprise.world WHERE id = $1', [id]));
  if (row === undefined) throw holeAt(0, where);
  return headOfRow(row, where);
}

function headOfRow([seq, head]: Row, where: string): Head {
  return { seq: whole(seq, where), digest: digest(head, where) };
}

function frameOf([seq, at, kind, head, stored]: Row, place: string, about: number): StoredFrame {
  const where = `${place}, frame ${about}`;
  return {
    seq: whole(seq, where),
    at: whole(at, where),
    kind: text(kind, where),
    head: digest(head, where),
    bytes: bytes(stored, where),
  };
}

function holeAt(seq: number, where: string): RepriseError {
  return new RepriseError('journal_damaged', 'a frame is missing', { where: `${where}, frame ${seq}` });
}

/** The effects of a project itself: what its team is now, and what a result says. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect } from '@reprise/kernel/define';
import { PROJECT_BOUNDS } from './names.js';
import { teamRow } from './team.js';

const count = z.int().min(0);

/** What the effect of reading a team says: a digest of it, and the team when that is not what the project knows. */
export const teamRead = z.strictObject({ version: z.string().max(80), team: z.exactOptional(teamRow) });

/** `specialists.team@1`: the team as it is defined now; without it when the project knows this version. */
export const readTeam = defineEffect({
  kind: 'specialists.team@1',
  params: z.strictObject({ known: z.nullable(z.string().max(80)) }),
  receipt: teamRead,
  guarantee: 'idempotent',
});

/** `specialists.read@1`: a piece of a result, never in the middle of a character. */
export const readResult = defineEffect({
  kind: 'specialists.read@1',
  params: z.strictObject({
    output_ref: ref(),
    offset: count,
    bytes: z.int().min(1).max(PROJECT_BOUNDS.read_bytes),
  }),
  receipt: z.strictObject({ text_ref: ref(), next_offset: z.nullable(count), total_bytes: count }),
  guarantee: 'idempotent',
});

/** The effects of a project itself: what its team and skills are now, and what a result says. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect } from '@reprise/kernel/define';
import { PROJECT_BOUNDS } from './names.js';
import { teamName, teamNews } from './team.js';

const count = z.int().min(0);

/** `specialists.skills@1`: the team and the skill files as they are now. */
export const readTeam = defineEffect({
  kind: 'specialists.skills@1',
  params: z.strictObject({
    /** The team; the only one of the world when null. */
    team: z.nullable(teamName),
    /** What the project knows; null for nothing. */
    known: z.nullable(z.string().max(80)),
    /** The skills that the project knows, by name and digest, when it knows another version. */
    skills: z.array(z.strictObject({ name: z.string().max(64), digest: z.string().max(80) })).max(256),
  }),
  receipt: teamNews,
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

/** The effects of a project itself: what its team is now, and what a result says. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect } from '@reprise/kernel/define';
import { PROJECT_BOUNDS } from './names.js';
import { skillsSeen } from './skills.js';
import { teamName, teamRow } from './team.js';

const count = z.int().min(0);

/** A team as an effect reads it: a digest of it, and the team when that is not what the project knows. */
export const teamRead = z.strictObject({ version: z.string().max(80), team: z.exactOptional(teamRow) });

/** What a look at a team and its skills found. */
export const lookReceipt = z.strictObject({ team: teamRead, skills: skillsSeen });

/**
 * `specialists.skills@1`: the team as it is defined now, and the skills that differ from those that the project knows. It
 * reads files and stores content.
 */
export const lookAtTeam = defineEffect({
  kind: 'specialists.skills@1',
  params: z.strictObject({
    /** The team; null for the only one of the world. */
    name: z.nullable(teamName),
    /** The versions of the team and of the skills that the project knows; null for none. */
    team: z.nullable(z.string().max(80)),
    skills: z.nullable(ref()),
  }),
  receipt: lookReceipt,
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

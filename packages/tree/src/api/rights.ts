/** Rights of nodes, as an app states and reads them. */
import { type Capability, capability, RepriseError } from '@reprise/contracts';
import { canonical, meet } from '@reprise/kernel/authority';
import { key } from '@reprise/org/contracts';
import type { NodeRow, RecordedRights } from '../pure/index.js';
import type { TreeRequests } from './requests.js';

/** Rights in the form that is recorded. @throws RepriseError `invalid_argument` */
export function recordedRights(rights: Capability, where: string): RecordedRights {
  const checked = capability.safeParse(rights);
  if (checked.success) return canonical(checked.data) as RecordedRights;
  const [issue] = checked.error.issues;
  throw new RepriseError('invalid_argument', 'invalid rights of a node', {
    where: [where, ...(issue?.path ?? [])].map(String).join('.'),
    expected: "what it may do, such as { may: { tool: ['read_*'] } }",
    actual: rights,
  });
}

/** What a node may do: what was said about it and the nodes above it; undefined when nothing was said. */
export async function rightsOn(requests: TreeRequests, row: NodeRow): Promise<Capability | undefined> {
  let all: Capability | undefined;
  for (let at: NodeRow | undefined = row; at !== undefined; ) {
    const { n, parent }: NodeRow = at;
    const said = await requests.cell.row('rights', key(n));
    if (said !== undefined) all = meet(all ?? { may: {} }, said);
    at = parent === null ? undefined : await requests.row(parent);
  }
  return all;
}

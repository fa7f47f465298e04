/** The faults in a world's journal: what failed, and why. */
import { type FaultCode, formatAddress } from '@reprise/contracts';
import type { World } from '@reprise/kernel';

/** A fault of a cell or of a plan. */
interface RecordedFault {
  readonly frame: number;
  readonly code: FaultCode;
  /** The address of what failed: of a plan, that of its cell. */
  readonly where: string;
}

/**
 * All faults in the frames of a world that are durable now. Without a fault no cell has failed.
 *
 * @param from the first frame to look at
 * @example expect(await faultsOf(world.kernel)).toEqual([])
 */
export async function faultsOf(world: Pick<World, 'frames' | 'head'>, from = 0): Promise<readonly RecordedFault[]> {
  const faults: RecordedFault[] = [];
  const { seq: last } = world.head;
  if (from > last) return faults;
  for await (const { seq, records } of world.frames(from)) {
    for (const record of records) {
      if (record.kind !== 'fault') continue;
      faults.push({ frame: seq, code: record.code, where: formatAddress(record.target) });
    }
    if (seq >= last) break;
  }
  return faults;
}

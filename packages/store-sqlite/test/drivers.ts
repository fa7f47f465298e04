/** The drivers that this machine has: both where Node brings one along. */
import { builtinDriver, type Driver, installedDriver } from '../src/database/driver.js';

/** Their names. */
export const DRIVERS: readonly Driver['name'][] =
  builtinDriver() === undefined ? ['libsql'] : ['node:sqlite', 'libsql'];

/** One of them. */
export async function driverNamed(name: string): Promise<Driver> {
  const driver = name === 'libsql' ? await installedDriver() : builtinDriver();
  if (driver !== undefined) return driver;
  throw new Error(`no driver ${name} on Node ${process.version}`);
}

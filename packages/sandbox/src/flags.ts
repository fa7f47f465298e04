/**
 * The abilities that Node withholds from the process: files, other processes, threads, add-ons, the inspector, eval.
 */
export function withholding(memoryMb: number): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  return [
    known.has('--permission') ? '--permission' : '--experimental-permission',
    '--disallow-code-generation-from-strings',
    '--frozen-intrinsics',
    '--no-addons',
    '--experimental-vm-modules', // so that the process notices an import, and ends
    '--no-warnings',
    `--max-old-space-size=${memoryMb}`,
  ];
}

/** The modules of users that are being loaded: what the process says when it ends meanwhile. */

const loading = new Set<string>();

/** Loads a module, which is under way until it has loaded or thrown. */
export async function whileLoading<T>(path: string, load: () => Promise<T>): Promise<T> {
  loading.add(path);
  try {
    return await load();
  } finally {
    loading.delete(path);
  }
}

/** The paths of the modules that are being loaded now. */
export function modulesLoading(): readonly string[] {
  return [...loading];
}

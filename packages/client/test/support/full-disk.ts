import type { FileHandle } from 'node:fs/promises';

type Promises = typeof import('node:fs/promises');

/** @param piece the most bytes that are written at once */
function limited(file: FileHandle, room: number, piece: number): FileHandle {
  return new Proxy(file, {
    get(target, key) {
      if (key !== 'write') {
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      }
      return async (bytes: Uint8Array, offset: number, _: undefined, position: number) => {
        const length = Math.min(bytes.byteLength - offset, room - position, piece);
        if (length > 0) return target.write(bytes, offset, length, position);
        throw Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' });
      };
    },
  });
}

/**
 * Runs something while no file of the client may become larger than `room` bytes, and no write writes more
 * than `piece` bytes.
 */
export async function withFullDisk<T>(
  room: number,
  run: () => Promise<T>,
  piece = Infinity,
): Promise<T> {
  const original = process.getBuiltinModule;
  const fs = original('node:fs/promises');
  const open: Promises['open'] = async (...values) =>
    limited(await fs.open(...values), room, piece);
  process.getBuiltinModule = (id: string) =>
    id === 'node:fs/promises' ? { ...fs, open } : original(id);
  try {
    return await run();
  } finally {
    process.getBuiltinModule = original;
  }
}

import * as fs from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { caught } from '../../support/caught.ts';
import {
  content,
  folder,
  isSaved,
  path,
  save,
  serve,
  useDownloads,
} from '../../support/downloads.ts';

useDownloads();

const resume = true;

test.each(['anew', 'to continue it', 'of what is there as a whole'])(
  'an onProgress that hangs does not keep an abort from ending a download: %s',
  async (how) => {
    if (how === 'of what is there as a whole') {
      await caught(save(await serve({ cuts: [300_000] }), { resume }));
      await fs.writeFile(`${path}.part`, content);
    }
    const controller = new AbortController();
    const onProgress = async () => {
      controller.abort(new Error('enough'));
      await new Promise(() => undefined);
    };
    const options = { resume: how !== 'anew', signal: controller.signal, onProgress };
    await expect(save(await serve(), options)).rejects.toThrow('enough');
    expect(await fs.readdir(folder)).not.toContain('call.mp3.part.lock');
    await save(await serve(), { resume });
    expect(await isSaved()).toBe(true);
  },
);

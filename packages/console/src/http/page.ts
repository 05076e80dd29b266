import { fileAnswer, RequestError, type Answer } from './answer.ts';
import type { PageFile } from '../page-file.ts';
import { PAGE_FILES } from '../page-files.generated.ts';

/**
 * The page. Its files and the API are relative to it, so that it works behind a proxy that changes paths.
 * @param documentPath the path in the browser's address
 */
export function pageAnswer(documentPath: string, files = PAGE_FILES): Answer {
  const file = files.get('index.html');
  if (!file) throw new RequestError('internal', 'The console was built without its page.');
  return fileAnswer(
    file.type,
    file.text.replace('<head>', () => headFor(documentPath)),
    'never',
  );
}

/** @returns `undefined` if there is no such file */
export function assetAnswer(
  path: string,
  files: ReadonlyMap<string, PageFile> = PAGE_FILES,
): Answer | undefined {
  const file = path.startsWith('/assets/') ? files.get(path.slice(1)) : undefined;
  return file && fileAnswer(file.type, file.text, 'forever');
}

/** Without a slash at the end of the address, relative URLs would lead beside the console. */
function headFor(documentPath: string): string {
  const segment = documentPath.slice(documentPath.lastIndexOf('/') + 1);
  return segment === '' ? '<head>' : `<head><base href="./${escaped(segment)}/">`;
}

const escaped = (text: string) =>
  text.replace(/[^\w.~%-]/g, (character) => `&#${String(character.codePointAt(0))};`);

import { fileAnswer, RequestError, type Answer } from './answer.ts';
import { PAGE_FILES } from '../page-files.generated.ts';

/**
 * The page. Its files and the API are relative to it, so that it works behind a proxy that changes paths.
 * @param documentPath the path in the browser's address
 */
export function pageAnswer(documentPath: string): Answer {
  const file = PAGE_FILES.get('index.html');
  if (!file) throw new RequestError('internal', 'The console was built without its page.');
  return fileAnswer(
    file.type,
    file.text.replace('<head>', () => headFor(documentPath)),
    'never',
  );
}

/** @returns `undefined` if there is no such file */
export function assetAnswer(path: string): Answer | undefined {
  const file = path.startsWith('/assets/') ? PAGE_FILES.get(path.slice(1)) : undefined;
  return file && fileAnswer(file.type, file.text, 'forever');
}

/**
 * What a person sees who opens the page and may not.
 * @param signIn where to sign in
 */
export function refusedAnswer({ status, headers, message }: RequestError, signIn?: string): Answer {
  const link = signIn === undefined ? '' : `<p><a href="${escaped(signIn)}">Sign in</a></p>`;
  const page = fileAnswer(
    'text/html; charset=utf-8',
    `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Call webhooks: console</title></head><body><main><h1>Call webhooks: console</h1><p>${message}</p>${link}</main></body></html>`,
    'never',
  );
  return { ...page, status, headers: { ...page.headers, ...headers } };
}

/** Without a slash at the end of the address, relative URLs would lead beside the console. */
function headFor(documentPath: string): string {
  const segment = documentPath.slice(documentPath.lastIndexOf('/') + 1);
  return segment === '' ? '<head>' : `<head><base href="./${escaped(segment)}/">`;
}

const escaped = (text: string) =>
  text.replace(/[^\w.~%/:?=-]/g, (character) => `&#${String(character.codePointAt(0))};`);

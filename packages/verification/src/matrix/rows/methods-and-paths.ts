import { requestBytes, type RequestChanges } from '../request-bytes.ts';
import type { Row, RowGroup } from '../row.ts';

const method = (name: string, options: Partial<Row> = {}): Row => ({
  name,
  expect: 'refused',
  steps: ({ valid, path }) => [requestBytes(valid, path, { method: name })],
  ...options,
});

const bodiless = (name: string): Row =>
  method(name, {
    steps: ({ valid, path }) => [
      requestBytes(valid, path, { method: name, framing: [], body: '' }),
    ],
  });

const path = (name: string, of: (path: string) => string): Row => ({
  name: `path ${name}`,
  expect: 'any',
  framework: true,
  steps: ({ valid, path: mounted }) => [requestBytes(valid, mounted, { path: of(mounted) })],
});

const accepted = (name: string, changes: RequestChanges): Row => ({
  name,
  expect: 'accepted',
  steps: ({ valid, path: mounted }) => [requestBytes(valid, mounted, changes)],
});

export const methodsAndPaths: RowGroup = {
  title: 'Methods and paths',
  rows: [
    bodiless('GET'),
    bodiless('HEAD'),
    method('PUT'),
    method('PATCH'),
    method('DELETE'),
    { ...bodiless('OPTIONS'), expect: 'any', framework: true },
    { ...bodiless('TRACE'), framework: true },
    { ...method('PROPFIND'), framework: true },
    { ...method('FOO'), framework: true },
    { ...method('post'), framework: true },
    method('CONNECT', { expect: 'any', framework: true, responses: 0 }),
    accepted('POST with X-HTTP-Method-Override: DELETE', {
      more: ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: GET'],
    }),
    {
      name: 'POST with a query',
      expect: 'accepted',
      steps: ({ valid, path: mounted }) => [
        requestBytes(valid, mounted, { path: `${mounted}?__proto__[x]=1&a=b` }),
      ],
    },
    {
      name: 'POST with a query that names another method',
      expect: 'accepted',
      steps: ({ valid, path: mounted }) => [
        requestBytes(valid, mounted, { path: `${mounted}?_method=DELETE` }),
      ],
    },
    path('with a slash at its end', (mounted) => `${mounted}/`),
    path('with two slashes in front', (mounted) => `/${mounted}`),
    path('in capitals', (mounted) => mounted.toUpperCase()),
    path('with a dot segment', (mounted) => `/x/..${mounted}`),
    path('with an encoded letter', (mounted) => mounted.replace('hook', '%68ook')),
    path('with an encoded slash', (mounted) => `${mounted}%2F`),
    path('with a broken escape', (mounted) => `${mounted}%`),
    path('in absolute form', (mounted) => `http://localhost${mounted}`),
    path('of 9,000 characters', (mounted) => `${mounted}?${'q'.repeat(9_000)}`),
    path('"*"', () => '*'),
  ],
};

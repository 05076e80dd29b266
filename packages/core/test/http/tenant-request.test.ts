import { expect, it } from '@jest/globals';
import { RequestView } from '../../src/http/request.ts';
import type { HeadersLike } from '../../src/internal.ts';

const view = (url: string, headers: HeadersLike = {}) => {
  const { path, query, host, headers: all } = new RequestView(url, headers);
  return { path, query: query.toString(), host, headers: all };
};

it('is the same for the request of Node and of fetch', () => {
  const expected = {
    path: '/hooks/acme',
    query: 'a=1&b=%3F',
    host: 'hooks.example.com:8080',
    headers: { host: 'Hooks.example.com:8080', 'x-workspace': 'acme' },
  };
  const headers = { Host: 'Hooks.example.com:8080', 'X-Workspace': 'acme' };
  expect(view('/hooks/acme?a=1&b=?', headers)).toEqual(expected);
  expect(view('https://hooks.example.com:8080/hooks/acme?a=1&b=?', new Headers(headers))).toEqual(
    expected,
  );
});

it.each([
  ['/', '/'],
  ['', '/'],
  ['?a=/x', '/'],
  ['/a%2Fb/', '/a%2Fb/'],
  ['/a#b?c', '/a'],
  ['//evil.example/x', '//evil.example/x'],
  ['http://h', '/'],
  ['HTTP://h/x?y', '/x'],
])('the path of %j is %j', (url, path) => {
  expect(view(url).path).toBe(path);
});

it('has the host of HTTP/2, and of a URL without a host header', () => {
  expect(view('/x', { ':authority': 'A.example.com' }).host).toBe('a.example.com');
  expect(view('https://b.example.com/x', new Headers()).host).toBe('b.example.com');
  expect(view('/x').host).toBe('');
  expect(view('/x').query).toBe('');
});

it('joins several values, and keeps a header that is called __proto__', () => {
  const given = JSON.parse('{"x-a":["1","2"],"__proto__":"x","Y":"z"}') as Record<string, string>;
  const { headers } = view('/', given);
  expect(Object.entries(headers)).toEqual([
    ['x-a', '1, 2'],
    ['__proto__', 'x'],
    ['y', 'z'],
  ]);
});

it('leaves out a header without a value, and takes the last of two that differ by case', () => {
  expect(view('/', { 'x-a': undefined, 'X-B': '1', 'x-b': '2' }).headers).toEqual({ 'x-b': '2' });
});

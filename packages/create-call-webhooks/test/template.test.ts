import { render } from '../src/template.ts';

const values = (...conditions: string[]) => ({
  conditions: new Set(conditions),
  texts: { name: 'my-app' },
});

describe('render', () => {
  test.each([
    ['//: if node', 'node', true],
    ['//: if node', 'next', false],
    ['  //: if express|koa', 'koa', true],
    ['#: if node typescript', 'node', false],
    ['<!--: if postgres|redis next -->', 'redis', false],
  ])('%s with %s', (mark, condition, isKept) => {
    const end = mark.replace(/if [^-]*/, mark.startsWith('<') ? 'end ' : 'end');
    const kept = render(`a\n${mark}\nb\n${end}\nc`, values(condition));
    expect(kept).toBe(isKept ? 'a\nb\nc' : 'a\nc');
  });

  test('every word of a condition has to hold', () => {
    const template = '//: if node typescript|javascript\na\n//: end';
    expect(render(template, values('node', 'javascript'))).toBe('a');
    expect(render(template, values('javascript'))).toBe('');
  });

  test('puts in texts', () => {
    expect(render('# {{name}}', values())).toBe('# my-app');
    expect(() => render('{{nam}}', values())).toThrow('There is no text for {{nam}}.');
  });

  test.each([
    ['//: if node\na', 'A mark is not closed.'],
    ['//: end', 'This mark has no partner: //: end'],
    ['//: if node\n//: if next\n//: end\n//: end', 'This mark has no partner: //: if next'],
  ])('%j is refused', (template, message) => {
    expect(() => render(template, values('node'))).toThrow(message);
  });
});

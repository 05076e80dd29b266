import { route } from '@react-router/dev/routes';

const paths = ['hook', 'short-deadline', 'short-body-timeout', 'sample'];

export default paths.map((path) => route(path, `routes/${path}.ts`));

import { group } from 'k6';
import { Client } from '../lib/client.js';

const client = new Client('shop');

export const shop = {
  list: (limit) => group('list', () => client.get(`/get?limit=${limit}`).status),
  buy(id) {
    return group('buy', () => client.post('/post', { id }).json('json.id'));
  },
};

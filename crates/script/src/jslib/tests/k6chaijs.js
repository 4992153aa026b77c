import chai, { describe, expect } from 'https://jslib.k6.io/k6chaijs/4.3.4.3/index.js';

const message = (action) => {
  try {
    action();
    return 'passed';
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};

export default function () {
  const passing = describe('passing', () => {
    expect(200, 'response status').to.equal(200);
    expect({ json: () => 1 }).to.have.validJsonBody();
    expect([1, 2, 3]).to.be.an('array').that.includes(2);
    expect([1, 2, 3], 'list').to.have.lengthOf(3).and.to.include.members([3, 1]);
    expect('abc').to.have.length.above(2);
    expect({ a: { b: [1] } }).to.have.nested.property('a.b[0]').equal(1);
    expect({ a: 1, b: 2 }).to.include({ a: 1 }).and.to.have.all.keys('a', 'b');
    expect({ a: [1] }).to.deep.equal({ a: [1] });
    expect(() => { throw new TypeError('bad x'); }).to.throw(TypeError, /bad/);
    expect(5).to.be.within(4, 6);
    expect(undefined).to.not.exist;
    expect([]).to.be.empty;
    expect(3).to.be.oneOf([1, 3]);
    expect('x').to.be.a('string').and.match(/x/);
  });
  console.log(passing);
  console.log(describe('failing', () => {
    expect(42).to.equal(44);
    console.log('not reached');
  }));
  chai.config.logFailures = true;
  console.log(message(() => expect(1, 'one').to.be.above(2)));
  console.log(message(() => expect({ a: 1 }).to.not.have.property('a')));
  console.log(message(() => expect('x').to.be.null));
  console.log(message(() => expect([1, 2]).to.have.lengthOf(1)));
}

//! Faults as JMeter 5.6.3 tells them, with their columns.

use super::*;

/// Recorded from JMeter 5.6.3.
#[test]
fn faults_are_told_in_the_words_of_xerces() {
    for (text, column, message) in RECORDED {
        let place = column.map(|column| (1, column));
        let told = first(text).map(|fault| (fault.message, fault.place));
        assert_eq!(told, Some(((*message).to_owned(), place)), "{text}");
    }
}

/// Recorded from JMeter 5.6.3.
#[test]
fn places_are_counted_by_lines() {
    let place = |text: &str| first(text).and_then(|fault| fault.place);
    let page = "<!DOCTYPE html>\n<html>\n  <head>\n    <link>\n  </head>\n</html>\n";
    assert_eq!(place(page), Some((5, 5)));
    assert_eq!(place("<html>\r\n\t<meta>\r\n</html>"), Some((3, 3)));
    assert_eq!(place("<a>x\n  "), Some((2, 3)));
    assert_eq!(place("<a>\u{1f600}</b>"), Some((1, 8)));
}

#[test]
fn what_is_well_formed_has_no_fault() {
    let whole = "<?xml version=\"1.0\"?>\n<!-- a --><!DOCTYPE a SYSTEM 'b'><a b='&lt;]]>' c = \"1\"><?php x ?>&#x41;&amp;<![CDATA[<]]><d/></a >\n<!-- e -->";
    assert_eq!(first(whole), None);
    assert_eq!(first("<!DOCTYPE a [<!ENTITY n '1'>]><a>&n;</a>"), None);
}

/// A text, the column of its fault, and the fault.
const RECORDED: &[(&str, Option<u32>, &str)] = &[
    (
        "<!DOCTYPE html><html><head><meta name=\"a\"></head><body></body></html>",
        Some(45),
        "The element type \"meta\" must be terminated by the matching end-tag \"</meta>\".",
    ),
    (
        "<p>a<br>b</p>",
        Some(12),
        "The element type \"br\" must be terminated by the matching end-tag \"</br>\".",
    ),
    (
        "<html><body><img src=\"x\"></body></html>",
        Some(28),
        "The element type \"img\" must be terminated by the matching end-tag \"</img>\".",
    ),
    (
        "<p>a&nbsp;b</p>",
        Some(11),
        "The entity \"nbsp\" was referenced, but not declared.",
    ),
    (
        "<a href=\"/x?a=1&b=2\">x</a>",
        Some(18),
        "The reference to entity \"b\" must end with the ';' delimiter.",
    ),
    (
        "<p>a & b</p>",
        Some(7),
        "The entity name must immediately follow the '&' in the entity reference.",
    ),
    (
        "<a href=x>y</a>",
        Some(9),
        "Open quote is expected for attribute \"href\" associated with an  element type  \"a\".",
    ),
    (
        "<input disabled>",
        Some(16),
        "Attribute name \"disabled\" associated with an element type \"input\" must be followed by the ' = ' character.",
    ),
    (
        "<input disabled/>",
        Some(16),
        "Attribute name \"disabled\" associated with an element type \"input\" must be followed by the ' = ' character.",
    ),
    (
        "<script>if (a<b && c) {}</script>",
        Some(17),
        "Element type \"b\" must be followed by either attribute specifications, \">\" or \"/>\".",
    ),
    (
        "<p>a < b</p>",
        Some(7),
        "The content of elements must consist of well-formed character data or markup.",
    ),
    ("{\"a\":1}", Some(1), "Content is not allowed in prolog."),
    ("  {\"a\":1}", Some(3), "Content is not allowed in prolog."),
    ("hello", Some(1), "Content is not allowed in prolog."),
    (
        "<a><b>x</b>",
        Some(12),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a><b",
        Some(6),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a href=\"x",
        Some(11),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a/><b/>",
        Some(6),
        "The markup in the document following the root element must be well-formed.",
    ),
    (
        "<a/>text",
        Some(5),
        "Content is not allowed in trailing section.",
    ),
    (
        "<a x=\"1\" x=\"2\"/>",
        Some(17),
        "Attribute \"x\" was already specified for element \"a\".",
    ),
    (
        "<a></b>",
        Some(6),
        "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
    ),
    (
        "</a>",
        Some(2),
        "The markup in the document preceding the root element must be well-formed.",
    ),
    (
        "<a><!-- -- --></a>",
        Some(11),
        "The string \"--\" is not permitted within comments.",
    ),
    (
        "<a><![CDATA[x</a>",
        Some(18),
        "XML document structures must start and end within the same entity.",
    ),
    (
        " <?xml version=\"1.0\"?><a/>",
        Some(7),
        "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
    ),
    (
        "<a>\u{1}</a>",
        Some(4),
        "An invalid XML character (Unicode: 0x1) was found in the element content of the document.",
    ),
    (
        "<a>]]></a>",
        Some(7),
        "The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA section.",
    ),
    (
        "<a x=\"<\"/>",
        Some(7),
        "The value of attribute \"x\" associated with an element type \"a\" must not contain the '<' character.",
    ),
    (
        "<!doctype html><html></html>",
        Some(3),
        "The markup in the document preceding the root element must be well-formed.",
    ),
    (
        "<1a/>",
        Some(2),
        "The markup in the document preceding the root element must be well-formed.",
    ),
    (
        "< a/>",
        Some(2),
        "The markup in the document preceding the root element must be well-formed.",
    ),
    (
        "<a x \"1\"/>",
        Some(6),
        "Attribute name \"x\" associated with an element type \"a\" must be followed by the ' = ' character.",
    ),
    (
        "<a x=\"1\"y=\"2\"/>",
        Some(9),
        "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
    ),
    (
        "<body><b>x</body>",
        Some(14),
        "The end-tag for element type \"b\" must end with a '>' delimiter.",
    ),
    (
        "<a>&#xZ;</a>",
        Some(7),
        "A hexadecimal representation must immediately follow the \"&#x\" in a character reference.",
    ),
    (
        "<a>&#0;</a>",
        Some(8),
        "Character reference \"&#0\" is an invalid XML character.",
    ),
    (
        "<a>&amp</a>",
        Some(8),
        "The reference to entity \"amp\" must end with the ';' delimiter.",
    ),
    (
        "<a>&</a>",
        Some(5),
        "The entity name must immediately follow the '&' in the entity reference.",
    ),
    (
        "<a><b>x&y=1</b></a>",
        Some(10),
        "The reference to entity \"y\" must end with the ';' delimiter.",
    ),
    (
        "<a></a></div>",
        Some(10),
        "The markup in the document following the root element must be well-formed.",
    ),
    ("<a/><!x>", Some(7), "Comment must start with \"<!--\"."),
    (
        "<a/><1>",
        Some(6),
        "The markup in the document following the root element must be well-formed.",
    ),
    (
        "<a/>&amp;",
        Some(5),
        "Content is not allowed in trailing section.",
    ),
    (
        "<a/><?xml version=\"1.0\"?>",
        Some(10),
        "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
    ),
    (
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\"><html></html>",
        Some(50),
        "White spaces are required between publicId and systemId.",
    ),
    (
        "<!DOCTYPE>",
        Some(10),
        "White space is required after \"<!DOCTYPE\" in the document type declaration.",
    ),
    (
        "<!DOCTYPEhtml><html/>",
        Some(10),
        "White space is required after \"<!DOCTYPE\" in the document type declaration.",
    ),
    (
        "<!DOCTYPE html SYSTEM><html/>",
        Some(22),
        "White space is required after keyword SYSTEM in DOCTYPE decl.",
    ),
    (
        "<!DOCTYPE html foo><html/>",
        Some(16),
        "The document type declaration for root element type \"html\" must end with '>'.",
    ),
    (
        "<!DOCTYPE html><!DOCTYPE html><html/>",
        Some(25),
        "Already seen doctype.",
    ),
    ("<!DOCTYPE html>", None, "Premature end of file."),
    (
        "<!DOCTYPE html>hello",
        Some(16),
        "Content is not allowed in prolog.",
    ),
    ("<a><!-x></a>", Some(7), "Comment must start with \"<!--\"."),
    (
        "<a><!-- x",
        Some(10),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<!-- x",
        Some(7),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a><!x></a>",
        Some(6),
        "The content of elements must consist of well-formed character data or markup.",
    ),
    ("<!-x>", Some(4), "Comment must start with \"<!--\"."),
    (
        "<a><!-- a --- ></a>",
        Some(13),
        "The string \"--\" is not permitted within comments.",
    ),
    ("<!-- only -->", None, "Premature end of file."),
    (
        "<a x=\"&nbsp;\"/>",
        Some(13),
        "The entity \"nbsp\" was referenced, but not declared.",
    ),
    (
        "<a x=\"& b\"/>",
        Some(8),
        "The entity name must immediately follow the '&' in the entity reference.",
    ),
    (
        "<a x=\"\u{1}\"/>",
        Some(7),
        "An invalid XML character (Unicode: 0x1) was found in the value of attribute \"x\" and element is \"a\".",
    ),
    (
        "<a>&#Z;</a>",
        Some(6),
        "A decimal representation must immediately follow the \"&#\" in a character reference.",
    ),
    (
        "<a>&#65</a>",
        Some(8),
        "The character reference must end with the ';' delimiter.",
    ),
    (
        "<a>&#x41</a>",
        Some(9),
        "The character reference must end with the ';' delimiter.",
    ),
    (
        "<!DOCTYPE html><a>x&nbsp;y</a>",
        Some(26),
        "The entity \"nbsp\" was referenced, but not declared.",
    ),
    (
        "<a>&copy;</a>",
        Some(10),
        "The entity \"copy\" was referenced, but not declared.",
    ),
    (
        "<a x=\"&copy\"/>",
        Some(12),
        "The reference to entity \"copy\" must end with the ';' delimiter.",
    ),
    (
        "<a>&lt</a>",
        Some(7),
        "The reference to entity \"lt\" must end with the ';' delimiter.",
    ),
    (
        "<a><?xml version=\"1.0\"?></a>",
        Some(9),
        "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
    ),
    (
        "<a><?php echo",
        Some(14),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a><?></a>",
        Some(6),
        "The processing instruction must begin with the name of the target.",
    ),
    (
        "<a b=>",
        Some(6),
        "Open quote is expected for attribute \"b\" associated with an  element type  \"a\".",
    ),
    (
        "<a b='x",
        Some(8),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a b",
        Some(5),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a b=",
        Some(6),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a /b>",
        Some(5),
        "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
    ),
    (
        "<a/ >",
        Some(4),
        "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
    ),
    (
        "<a b=\"1\" c>x</a>",
        Some(11),
        "Attribute name \"c\" associated with an element type \"a\" must be followed by the ' = ' character.",
    ),
    (
        "<a \"x\">",
        Some(4),
        "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
    ),
    (
        "<",
        Some(2),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a",
        Some(3),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a>x</a",
        Some(8),
        "XML document structures must start and end within the same entity.",
    ),
    (
        "<a>x</a b>",
        Some(9),
        "The end-tag for element type \"a\" must end with a '>' delimiter.",
    ),
    (
        "<a>x</ a>",
        Some(7),
        "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
    ),
    (
        "<a>x</>",
        Some(7),
        "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
    ),
    (
        "<a =1>",
        Some(4),
        "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
    ),
    (
        "<a @click=\"x\"/>",
        Some(4),
        "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
    ),
    (
        "<a b:c=\"x\" b=\"&\"/>",
        Some(16),
        "The entity name must immediately follow the '&' in the entity reference.",
    ),
    (
        "<a>]]</a>]]>",
        Some(10),
        "Content is not allowed in trailing section.",
    ),
    (
        "<a>é</b>",
        Some(7),
        "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
    ),
    (
        "<é></e>",
        Some(6),
        "The element type \"é\" must be terminated by the matching end-tag \"</é>\".",
    ),
    (
        "<a>\u{fffe}</a>",
        Some(4),
        "An invalid XML character (Unicode: 0xfffe) was found in the element content of the document.",
    ),
    (
        "<a><B></b></a>",
        Some(9),
        "The element type \"B\" must be terminated by the matching end-tag \"</B>\".",
    ),
    (
        "<table><tr><td>x</tr></table>",
        Some(19),
        "The element type \"td\" must be terminated by the matching end-tag \"</td>\".",
    ),
    (
        "<ul><li>a<li>b</ul>",
        Some(17),
        "The element type \"li\" must be terminated by the matching end-tag \"</li>\".",
    ),
    (
        "<html><script>for(i=0;i<10;i++){}</script></html>",
        Some(25),
        "The content of elements must consist of well-formed character data or markup.",
    ),
    (
        "<html><script>if(a&&b){}</script></html>",
        Some(20),
        "The entity name must immediately follow the '&' in the entity reference.",
    ),
    (
        "<html><script>a<\"b\"</script></html>",
        Some(17),
        "The content of elements must consist of well-formed character data or markup.",
    ),
    (
        "<td nowrap>x</td>",
        Some(11),
        "Attribute name \"nowrap\" associated with an element type \"td\" must be followed by the ' = ' character.",
    ),
    (
        "<a  b = \"1\"  c = 2/>",
        Some(18),
        "Open quote is expected for attribute \"c\" associated with an  element type  \"a\".",
    ),
];

// Says what Groovy makes of each script of a file, one line of JSON each: the script, and what it printed and came to.
import groovy.json.JsonOutput
def told = { script ->
    def printed = new StringWriter()
    def binding = new Binding(out: new PrintWriter(printed))
    def said
    try {
        def value = new GroovyShell(binding).evaluate(script, 'Script1.groovy')
        said = value.inspect()
    } catch (Throwable thrown) {
        said = '! ' + thrown
    }
    binding.out.flush()
    printed.toString() + said
}
new File(args[0]).getText('UTF-8').split('\n----\n').each { script ->
    println JsonOutput.toJson([script, told(script)])
}

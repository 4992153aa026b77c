// Writes what Go's text/template makes of every line of cases.txt over the data below: the text, or
// that it is refused. Run it beside cases.txt: go run generate.go > results.txt
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"text/template"
	"time"
)

type point struct{ X, Y int }

func (p point) Sum() int { return p.X + p.Y }

type data struct {
	Name   string
	Empty  string
	Count  int
	Zero   int
	Big    uint64
	Ratio  float64
	Flag   bool
	List   []float64
	Names  []string
	None   []float64
	Words  map[string]int
	Codes  map[int]int
	Point  point
	Points []point
	Matrix [][]int
	Took   time.Duration
	Nil    *uint64
}

func (d data) Twice(n int) int { return 2 * n }

func main() {
	d := data{
		Name: "load", Count: 7, Big: 9, Ratio: 0.25, Flag: true,
		List: []float64{1.5, 2, 3.25, 4}, Names: []string{"a", "b c"},
		Words: map[string]int{"b": 2, "a": 1}, Codes: map[int]int{404: 2, 200: 40},
		Point: point{1, 2}, Points: []point{{1, 2}, {3, 4}}, Matrix: [][]int{{1, 2}, {3, 4}},
		Took: 1500 * time.Millisecond,
	}
	file, err := os.Open("cases.txt")
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fmt.Println(result(lines.Text(), d))
	}
}

func result(text string, d data) string {
	t, err := template.New("case").Parse(text)
	if err != nil {
		return "refused when parsed"
	}
	var out strings.Builder
	if err := t.Execute(&out, d); err != nil {
		return "refused when executed"
	}
	return fmt.Sprintf("%q", out.String())
}
